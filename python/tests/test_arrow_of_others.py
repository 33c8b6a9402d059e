"""Arrow arrays from another project: the columns of GDAL, if Debian's python3-gdal is installed.

We wrote both arrow_double.py and the reader, so they could share a misunderstanding of the specification. GDAL has its own code.
"""
import numpy as np
import pytest

import tamis
from arrow_double import Array, P, Schema, new_capsule
from conftest import SEED

N = 5000
PATHS = [f"/usr/share/é/{i}" for i in range(N)]


class Column:
    """A child of a record batch, which keeps its memory."""

    def __init__(self, schema, array, batch):
        self.schema, self.array, self.batch = schema, array, batch

    def __arrow_c_array__(self, requested_schema=None):
        return new_capsule(self.schema, b"arrow_schema", None), new_capsule(self.array, b"arrow_array", None)


def children(struct):
    return (P * struct.n_children).from_address(struct.children)


def table(ogr):
    layer_of = ogr.GetDriverByName("Memory").CreateDataSource("x")
    layer = layer_of.CreateLayer("x", geom_type=ogr.wkbNone)
    for name, sort in (("path", ogr.OFTString), ("id", ogr.OFTInteger64), ("small", ogr.OFTInteger)):
        layer.CreateField(ogr.FieldDefn(name, sort))
    for i in range(N):
        feature = ogr.Feature(layer.GetLayerDefn())
        feature["path"], feature["id"], feature["small"] = PATHS[i], 10**12 + i, -i
        layer.CreateFeature(feature)
    return layer_of, layer


def columns(stream):
    """(name, format, column) for each column of each batch."""
    schema_object = stream.GetSchema()
    schema = Schema.from_address(int(schema_object._getPtr()))
    while (batch := stream.GetNextRecordBatch()) is not None:
        array = Array.from_address(int(batch._getPtr()))
        for child_schema, child in zip(children(schema), children(array)):
            child_is = Schema.from_address(child_schema)
            yield child_is.name.decode(), child_is.format.decode(), Column(child_schema, child, batch)


def test_columns_of_gdal_are_sources():
    ogr = pytest.importorskip("osgeo.ogr")
    owner, layer = table(ogr)
    sets, formats = {}, {}
    for name, form, column in columns(layer.GetArrowStream()):
        formats[name] = form
        s = sets.setdefault(name, tamis.Set(capacity=N, fpr=1e-6, seed=SEED))
        s.update(column)
        assert s.contains(column).all()
    assert (formats["path"], formats["id"], formats["small"]) == ("u", "l", "i")
    assert sets["path"].contains(PATHS).all() and not sets["path"].contains(["x", "y"]).any()
    assert sets["id"].contains(np.arange(10**12, 10**12 + N)).all()
    assert sets["small"].contains([-i for i in range(N)]).all() and len(sets["small"]) == N
    del owner
