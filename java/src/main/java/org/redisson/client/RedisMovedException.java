package org.redisson.client;

import org.redisson.misc.RedisURI;

/** Kept so that programs compile; not thrown here: there is one server. */
public class RedisMovedException extends RedisRedirectException {
    private static final long serialVersionUID = 1L;

    /**
     * @param slot the key's
     * @param url the server that has the slot for good
     */
    public RedisMovedException(int slot, RedisURI url) {
        super(slot, url);
    }
}
