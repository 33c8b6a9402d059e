// @redis/bloom of npm against our module: node node-client.mjs PORT 2|3
import assert from 'node:assert/strict';
import { createClient, RESP_TYPES } from '@redis/client';
import imported from '@redis/bloom';

const bloom = imported.default ?? imported;

const [port, protocol] = process.argv.slice(2).map(Number);
const client = createClient({ RESP: protocol, socket: { host: '127.0.0.1', port }, modules: bloom });
let checks = 0;
const same = (got, wanted) => { assert.deepEqual(got, wanted); checks++; };
const fails = async (promise, text) => { await assert.rejects(promise, (error) => error.message === text); checks++; };

client.on('error', (error) => { console.error(error); process.exit(1); });
await client.connect();

// BF
same(await client.bf.reserve('b', 0.01, 1000), 'OK');
await fails(client.bf.reserve('b', 0.01, 1000), 'ERR item exists');
same(await client.bf.add('b', 'x'), true);
same(await client.bf.add('b', 'x'), false);
same(await client.bf.mAdd('b', ['x', 'y']), [false, true]);
same(await client.bf.exists('b', 'x'), true);
same(await client.bf.mExists('b', ['x', 'z']), [true, false]);
same(await client.bf.card('b'), 2);
same(await client.bf.insert('b2', ['a', 'b'], { CAPACITY: 100, ERROR: 0.001, NONSCALING: true }), [true, true]);
await fails(client.bf.insert('none', 'a', { NOCREATE: true }), 'ERR not found');
const info = await client.bf.info('b');
same(Number(info.Capacity), 1000);
same(Number(info['Number of filters']), 1);
same(Number(info['Number of items inserted']), 2);
same(Number(info['Expansion rate']), 2);
same((await client.bf.info('b2'))['Expansion rate'], null);

// Dumps are bytes: as text they would be damaged.
const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
const copy = async (family, from, to) => {
  let iterator = 0, n = 0;
  for (;;) {
    const piece = await bytes[family].scanDump(from, iterator);
    iterator = Number(piece.iterator);
    if (iterator === 0) return n;
    same(String(await client[family].loadChunk(to, iterator, piece.chunk)), 'OK');
    n++;
  }
};
same(await copy('bf', 'b', 'b-copy'), 2);
same(await client.bf.mExists('b-copy', ['x', 'y', 'z']), [true, true, false]);

// CF
same(await client.cf.reserve('c', 1000, { BUCKETSIZE: 4, MAXITERATIONS: 5, EXPANSION: 1 }), 'OK');
same(await client.cf.add('c', 'x'), true);
same(await client.cf.addNX('c', 'x'), false);
same(await client.cf.insert('c', ['x', 'y']), [true, true]);
same((await client.cf.insertNX('c', ['x', 'z'])).map(Number), [0, 1]);
same(await client.cf.exists('c', 'x'), true);
same(await client.cf.count('c', 'x'), 2);
same(await client.cf.del('c', 'x'), true);
same(await client.cf.count('c', 'x'), 1);
await fails(client.cf.del('none', 'x'), 'Not found');
const cuckoo = await client.cf.info('c');
same(Number(cuckoo['Bucket size']), 4);
same(Number(cuckoo['Number of items inserted']), 3);
same(Number(cuckoo['Number of items deleted']), 1);
same(await copy('cf', 'c', 'c-copy'), 2);
same(await client.cf.count('c-copy', 'y'), 1);

// TAMIS.* have no functions of their own there: any client can send words.
same(await client.sendCommand(['TAMIS.RESERVE', 't', 'ERROR', '0.01', 'CAPACITY', '100', 'COUNTING']), 'OK');
same(await client.sendCommand(['TAMIS.ADD', 't', 'a', 'a']), [1, 0]);
same(await client.sendCommand(['TAMIS.COUNT', 't', 'a', 'b']), [2, 0]);

client.destroy();
console.log(JSON.stringify({ checks }));
