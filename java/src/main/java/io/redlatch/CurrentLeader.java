package io.redlatch;

import java.util.OptionalLong;

/** A leader, as the server knows it. */
public final class CurrentLeader {
    private final String value;
    private final long token;

    CurrentLeader(String value, long token) {
        this.value = value;
        this.token = token;
    }

    /** The text that it has set; empty if it has set none. */
    public String value() {
        return value;
    }

    /** The token of its term; empty if another sort of lock has the name, or the token is not known yet. */
    public OptionalLong token() {
        return token > 0 ? OptionalLong.of(token) : OptionalLong.empty();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CurrentLeader && ((CurrentLeader) other).value.equals(value) && ((CurrentLeader) other).token == token;
    }

    @Override
    public int hashCode() {
        return value.hashCode() + Long.hashCode(token);
    }

    @Override
    public String toString() {
        return "CurrentLeader[value=" + value + ", token=" + (token > 0 ? token : "none") + "]";
    }
}
