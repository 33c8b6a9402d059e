/* frames.c - see frames.h. */
#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ bytes */

static void put8(frame *out, unsigned value) {
    out->bytes[out->n++] = (uint8_t)value;
}

static void put16(frame *out, unsigned value) {
    put8(out, value >> 8);
    put8(out, value & 0xff);
}

static void put32(frame *out, uint32_t value) {
    put16(out, value >> 16);
    put16(out, value & 0xffff);
}

static void put_bytes(frame *out, const void *bytes, size_t n) {
    memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

static void put_filler(frame *out, size_t n) {
    for (size_t i = 0; i < n; i++) put8(out, (unsigned)('a' + i % 26));
}

/* ------------------------------------------------------------------ layers */

static void put_ethernet(frame *out, const frame_style *style) {
    static const uint8_t addresses[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
    out->n = 0;
    put_bytes(out, addresses, sizeof addresses);
    for (unsigned i = 0; i < style->n_tags; i++) {
        put16(out, style->n_tags == 2 && i == 0 ? 0x88a8 : 0x8100);
        put16(out, 100 + i);
    }
    put16(out, style->version == 4 ? 0x0800 : 0x86dd);
}

static void put_checksum(frame *out, size_t at, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i += 2)
        sum += (uint32_t)(out->bytes[at + i] << 8 | out->bytes[at + i + 1]);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    out->bytes[at + 10] = (uint8_t)(~sum >> 8);
    out->bytes[at + 11] = (uint8_t)~sum;
}

static void put_ipv4(frame *out, const frame_style *style, const frame_end *from,
                     const frame_end *dest, unsigned protocol, size_t payload, unsigned fragment) {
    size_t const at = out->n, header = style->has_options ? 24 : 20;
    put8(out, (unsigned)(0x40 | header / 4));
    put8(out, 0);
    put16(out, (unsigned)(header + payload));
    put16(out, 4711);
    put16(out, fragment);
    put8(out, 64);
    put8(out, protocol);
    put16(out, 0);
    put_bytes(out, from->address, 4);
    put_bytes(out, dest->address, 4);
    if (style->has_options) put32(out, 0x01010100); /* three times "no operation", and the end */
    put_checksum(out, at, header);
}

/* An IPv6 extension header of 8 bytes that holds padding. */
static void put_extension(frame *out, unsigned next) {
    put8(out, next);
    put8(out, 0);
    put16(out, 0x0104);
    put32(out, 0);
}

static void put_ipv6(frame *out, const frame_style *style, const frame_end *from,
                     const frame_end *dest, unsigned protocol, size_t payload, unsigned fragment,
                     bool is_fragment) {
    size_t const   extensions = (style->has_options ? 16u : 0) + (is_fragment ? 8u : 0);
    unsigned const next = is_fragment ? 44 : protocol;
    put32(out, 0x60000000);
    put16(out, (unsigned)(extensions + payload));
    put8(out, style->has_options ? 0 : next);
    put8(out, 64);
    put_bytes(out, from->address, 16);
    put_bytes(out, dest->address, 16);
    if (style->has_options) put_extension(out, 60);
    if (style->has_options) put_extension(out, next);
    if (!is_fragment) return;
    put16(out, protocol << 8);
    put16(out, fragment);
    put32(out, 4711);
}

static void put_ip(frame *out, const frame_style *style, const frame_end *from,
                   const frame_end *dest, unsigned protocol, size_t payload) {
    put_ethernet(out, style);
    if (style->version == 4)
        put_ipv4(out, style, from, dest, protocol, payload, 0x4000);
    else
        put_ipv6(out, style, from, dest, protocol, payload, 0, false);
}

/* Ethernet pads short frames to 60 bytes. */
static void pad(frame *out) {
    while (out->n < 60) put8(out, 0);
}

/* ------------------------------------------------------------------ packets */

void frame_tcp(frame *ret_frame, const frame_style *style, const frame_end *from,
               const frame_end *to, unsigned flags, size_t payload) {
    size_t const header = style->has_timestamps ? 32 : 20;
    put_ip(ret_frame, style, from, to, 6, header + payload);
    put16(ret_frame, from->port);
    put16(ret_frame, to->port);
    put32(ret_frame, style->sequence + ((flags & SYN) == 0));
    put32(ret_frame, (flags & ACK) != 0 ? 2000 : 0);
    put8(ret_frame, (unsigned)(header / 4 << 4));
    put8(ret_frame, flags);
    put16(ret_frame, 65535);
    put32(ret_frame, 0);
    for (size_t i = 20; i < header; i += 4) put32(ret_frame, i == 20 ? 0x0101080a : 77);
    put_filler(ret_frame, payload);
    pad(ret_frame);
}

static void put_udp(frame *out, const frame_end *from, const frame_end *dest, size_t payload) {
    put16(out, from->port);
    put16(out, dest->port);
    put16(out, (unsigned)(8 + payload));
    put16(out, 0);
}

void frame_udp(frame *ret_frame, const frame_style *style, const frame_end *from,
               const frame_end *to, size_t payload) {
    put_ip(ret_frame, style, from, to, 17, 8 + payload);
    put_udp(ret_frame, from, to, payload);
    put_filler(ret_frame, payload);
    pad(ret_frame);
}

void frame_echo(frame *ret_frame, const frame_style *style, const frame_end *from,
                const frame_end *to, bool is_reply) {
    unsigned const ask = style->version == 4 ? 8 : 128, answer = style->version == 4 ? 0 : 129;
    put_ip(ret_frame, style, from, to, style->version == 4 ? 1 : 58, 8 + 56);
    put16(ret_frame, (is_reply ? answer : ask) << 8);
    put16(ret_frame, 0);
    put16(ret_frame, from->port);
    put16(ret_frame, 1);
    put_filler(ret_frame, 56);
}

/* The first fragment has the UDP header and 1000 bytes. Offsets are in units of 8 bytes. */
void frame_fragment(frame *ret_frame, const frame_style *style, const frame_end *from,
                    const frame_end *to, size_t payload, bool is_second) {
    size_t const   first = 1000, offset = 8 + first;
    size_t const   here = is_second ? payload - first : offset;
    unsigned const in_units = is_second ? (unsigned)(offset / 8) : 0;
    put_ethernet(ret_frame, style);
    if (style->version == 4)
        put_ipv4(ret_frame, style, from, to, 17, here, in_units | (is_second ? 0 : 0x2000));
    else
        put_ipv6(ret_frame, style, from, to, 17, here, in_units << 3 | (is_second ? 0 : 1), true);
    if (!is_second) put_udp(ret_frame, from, to, payload);
    put_filler(ret_frame, is_second ? here : first);
}

void frame_arp(frame *ret_frame) {
    static const uint8_t begin[] = { 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0,
                                     1,   8,   6,   0,   1,   8,   0, 6, 4, 0, 1 };
    ret_frame->n = 0;
    put_bytes(ret_frame, begin, sizeof begin);
    put_filler(ret_frame, 20);
    pad(ret_frame);
}

/* ------------------------------------------------------------------ files */

struct frame_writer {
    FILE        *file;
    frame_format format;
    size_t       snapshot;
    uint64_t     n_packets;
};

static void write32(frame_writer *writer, uint32_t value) {
    uint32_t const stored = writer->format == FORMAT_SWAPPED ? __builtin_bswap32(value) : value;
    (void)fwrite(&stored, sizeof stored, 1, writer->file);
}

static void write_ng_begin(frame_writer *writer, uint32_t link_type) {
    uint32_t const section[] = { 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28 };
    uint32_t const interface[] = { 1, 20, link_type, (uint32_t)writer->snapshot, 20 };
    (void)fwrite(section, sizeof section, 1, writer->file);
    (void)fwrite(interface, sizeof interface, 1, writer->file);
}

static void write_begin(frame_writer *writer, int link_type) {
    if (writer->format == FORMAT_NG) {
        write_ng_begin(writer, (uint32_t)link_type);
        return;
    }
    write32(writer, writer->format == FORMAT_NANO ? 0xa1b23c4d : 0xa1b2c3d4);
    uint16_t const version[] = { writer->format == FORMAT_SWAPPED ? 0x0200 : 2,
                                 writer->format == FORMAT_SWAPPED ? 0x0400 : 4 };
    (void)fwrite(version, sizeof version, 1, writer->file);
    write32(writer, 0);
    write32(writer, 0);
    write32(writer, (uint32_t)writer->snapshot);
    write32(writer, (uint32_t)link_type);
}

frame_writer *writer_open(const char *name, frame_format format, size_t snapshot, int link_type) {
    frame_writer *const writer = calloc(1, sizeof *writer);
    if (writer == NULL) return NULL;
    *writer = (frame_writer){ .format = format, .snapshot = snapshot };
    writer->file = strcmp(name, "-") == 0 ? stdout : fopen(name, "wb");
    if (writer->file == NULL) {
        free(writer);
        return NULL;
    }
    write_begin(writer, link_type);
    return writer;
}

static void write_ng_packet(frame_writer *writer, const frame *f, uint32_t captured,
                            uint64_t time_ns) {
    static const uint8_t zeros[4];
    uint64_t const       micro = time_ns / 1000;
    uint32_t const       padded = (captured + 3) / 4 * 4, total = 32 + padded;
    uint32_t const begin[] = { 6,        total,         0, (uint32_t)(micro >> 32), (uint32_t)micro,
                               captured, (uint32_t)f->n };
    (void)fwrite(begin, sizeof begin, 1, writer->file);
    (void)fwrite(f->bytes, captured, 1, writer->file);
    (void)fwrite(zeros, padded - captured, 1, writer->file);
    (void)fwrite(&total, sizeof total, 1, writer->file);
}

void writer_put(frame_writer *writer, const frame *f, uint64_t time_ns) {
    uint32_t const captured = (uint32_t)(f->n < writer->snapshot ? f->n : writer->snapshot);
    writer->n_packets++;
    if (writer->format == FORMAT_NG) {
        write_ng_packet(writer, f, captured, time_ns);
        return;
    }
    write32(writer, (uint32_t)(time_ns / 1000000000));
    write32(writer, (uint32_t)(time_ns % 1000000000 / (writer->format == FORMAT_NANO ? 1 : 1000)));
    write32(writer, captured);
    write32(writer, (uint32_t)f->n);
    (void)fwrite(f->bytes, captured, 1, writer->file);
}

uint64_t writer_packets(const frame_writer *writer) {
    return writer->n_packets;
}

bool writer_close(frame_writer *writer) {
    bool const is_fine = ferror(writer->file) == 0;
    bool const is_closed = fclose(writer->file) == 0;
    free(writer);
    return is_fine && is_closed;
}
