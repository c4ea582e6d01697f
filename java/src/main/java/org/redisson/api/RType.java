package org.redisson.api;

/** The type of a key, in Redisson's words. */
public enum RType {
    /** A text or a number. */
    OBJECT("string"),
    /** A hash, as locks are. */
    MAP("hash"),
    /** A list. */
    LIST("list"),
    /** A set. */
    SET("set"),
    /** A sorted set. */
    ZSET("zset"),
    /** A stream. */
    STREAM("stream"),
    /** A rate limiter. */
    GCRA("gcra"),
    /** A JSON document. */
    JSON("ReJSON-RL");

    private final String value;

    RType(String value) {
        this.value = value;
    }

    /** The server's word for the encoding. */
    public String getValue() {
        return value;
    }
}
