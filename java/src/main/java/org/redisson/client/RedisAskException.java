package org.redisson.client;

import org.redisson.misc.RedisURI;

/** Kept so that programs compile; not thrown here: there is one server. */
public class RedisAskException extends RedisRedirectException {
    private static final long serialVersionUID = 1L;

    /**
     * @param slot the key's slot
     * @param url the server that has the slot for now
     */
    public RedisAskException(int slot, RedisURI url) {
        super(slot, url);
    }
}
