package org.redisson.client.codec;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** The text of a value, in UTF-8 unless another charset is named. */
public class StringCodec extends BaseCodec {
    /** In UTF-8. */
    public static final StringCodec INSTANCE = new StringCodec();

    private final Charset charset;

    /** In UTF-8. */
    public StringCodec() {
        this(StandardCharsets.UTF_8);
    }

    /** In UTF-8; texts need no class loader. */
    public StringCodec(ClassLoader classLoader) {
        this();
    }

    /** @param charsetName as {@link Charset#forName} takes it */
    public StringCodec(String charsetName) {
        this(Charset.forName(charsetName));
    }

    /** In that charset. */
    public StringCodec(Charset charset) {
        this.charset = charset;
    }

    /** The character set of texts. */
    public Charset getCharset() {
        return charset;
    }
}
