package org.redisson.client;

import org.redisson.misc.RedisURI;

/** Kept so that programs compile; not thrown here: there is one server. */
public class RedisRedirectException extends RedisException {
    private static final long serialVersionUID = 1L;

    private final Integer slot;
    private final transient RedisURI url;

    /** @param url the server that has the key */
    public RedisRedirectException(RedisURI url) {
        this(null, url);
    }

    /**
     * @param slot the key's
     * @param url the server that has the slot
     */
    public RedisRedirectException(Integer slot, RedisURI url) {
        super("the slot " + slot + " is at " + url);
        this.slot = slot;
        this.url = url;
    }

    /** The key's slot, or null. */
    public Integer getSlot() {
        return slot;
    }

    /** The server that has the slot. */
    public RedisURI getUrl() {
        return url;
    }
}
