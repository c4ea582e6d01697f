package org.redisson.api;

/** How a server keeps a value. */
public enum ObjectEncoding {
    /** A text. */
    RAW("raw"),
    /** A number. */
    INT("int"),
    /** A short text. */
    EMBSTR("embstr"),
    /** A list, of servers of old. */
    LINKEDLIST("linkedlist"),
    /** A small list, before 7.0. */
    ZIPLIST("ziplist"),
    /** A small list, hash or sorted set, from 7.0 on. */
    LISTPACK("listpack"),
    /** A list. */
    QUICKLIST("quicklist"),
    /** A hash, or a set. */
    HASHTABLE("hashtable"),
    /** A set of numbers. */
    INTSET("intset"),
    /** A small hash, of servers of old. */
    ZIPMAP("zipmap"),
    /** A sorted set. */
    SKIPLIST("skiplist"),
    /** A stream. */
    STREAM("stream"),
    /** There is no value. */
    NULL("nonexistence"),
    /** An encoding that this list lacks. */
    UNKNOWN("unknown");

    private final String type;

    ObjectEncoding(String type) {
        this.type = type;
    }

    /** The server's word for the encoding. */
    public String getType() {
        return type;
    }

    /** The encoding that a server calls by that name; {@link #NULL} for null. */
    public static ObjectEncoding valueOfEncoding(Object object) {
        if (object == null) {
            return NULL;
        }
        for (ObjectEncoding each : values()) {
            if (each.type.equals(object)) {
                return each;
            }
        }
        return UNKNOWN;
    }
}
