package org.redisson;

import java.io.ByteArrayOutputStream;
import java.security.Key;
import java.security.PublicKey;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;

/** Private keys as the native library takes them: it wants the public part beside that of an elliptic curve, which the JDK leaves out. */
final class Pkcs8 {
    private static final int INTEGER = 2;
    private static final int BYTES = 4;
    private static final int SEQUENCE = 0x30;
    private static final int PUBLIC_KEY = 0xa1;

    private Pkcs8() {}

    static byte[] of(Key key, PublicKey other) {
        if (!(key instanceof ECPrivateKey)) {
            return key.getEncoded();
        }
        // SEQUENCE { algorithm, public key }
        byte[] halves = other.getEncoded();
        int algorithm = halves[1] >= 0 ? 2 : 2 + (halves[1] & 0x7f);
        int publicKey = algorithm + 2 + halves[algorithm + 1];
        ECPrivateKey secret = (ECPrivateKey) key;
        byte[] pair = der(SEQUENCE, der(INTEGER, new byte[] {1}), der(BYTES, fixed(secret)),
                der(PUBLIC_KEY, Arrays.copyOfRange(halves, publicKey, halves.length)));
        return der(SEQUENCE, der(INTEGER, new byte[] {0}), Arrays.copyOfRange(halves, algorithm, publicKey), der(BYTES, pair));
    }

    /** The number with as many bytes as the curve's order has. */
    private static byte[] fixed(ECPrivateKey key) {
        byte[] fixed = new byte[(key.getParams().getOrder().bitLength() + 7) / 8];
        byte[] signed = key.getS().toByteArray();
        int length = Math.min(signed.length, fixed.length); // there may be a zero in front, for the sign
        System.arraycopy(signed, signed.length - length, fixed, fixed.length - length, length);
        return fixed;
    }

    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.write(tag);
        int length = content.size();
        if (length >= 0x80) { // a key is shorter than 256 bytes
            whole.write(0x81);
        }
        whole.write(length);
        whole.writeBytes(content.toByteArray());
        return whole.toByteArray();
    }
}
