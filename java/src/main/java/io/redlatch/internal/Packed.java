package io.redlatch.internal;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Texts of any bytes on their way across the border: each behind its length in four bytes. */
final class Packed {
    private Packed() {}

    static byte[] write(byte[]... texts) {
        int size = 0;
        for (byte[] text : texts) {
            size += Integer.BYTES + text.length;
        }
        ByteBuffer packed = ByteBuffer.allocate(size);
        for (byte[] text : texts) {
            packed.putInt(text.length).put(text);
        }
        return packed.array();
    }

    /** @param packed one character for each byte */
    static List<byte[]> read(String packed) {
        ByteBuffer bytes = ByteBuffer.wrap(packed.getBytes(StandardCharsets.ISO_8859_1));
        List<byte[]> texts = new ArrayList<>();
        while (bytes.hasRemaining()) {
            byte[] text = new byte[bytes.getInt()];
            bytes.get(text);
            texts.add(text);
        }
        return texts;
    }
}
