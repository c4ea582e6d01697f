package org.redisson.connection;

import java.net.InetSocketAddress;
import org.redisson.api.NodeType;

/** Hears of connections in Redisson; this library never calls it. */
public interface ConnectionListener {
    /** A connection was made. */
    void onConnect(InetSocketAddress addr);

    /** A connection to a server of that type was made. */
    default void onConnect(InetSocketAddress addr, NodeType nodeType) {
        onConnect(addr);
    }

    /** A connection has ended. */
    void onDisconnect(InetSocketAddress addr);

    /** A connection to a server of that type has ended. */
    default void onDisconnect(InetSocketAddress addr, NodeType nodeType) {
        onDisconnect(addr);
    }
}
