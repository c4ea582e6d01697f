package org.redisson.api;

import java.util.concurrent.TimeUnit;
import org.redisson.client.codec.Codec;

/**
 * An object that is a key on the server. Further keys of the object go where it goes: the permits of a {@link RPermitExpirableSemaphore} that
 * are out are renamed, moved and deleted with it. Waiters are not told.
 */
public interface RObject extends RObjectAsync {
    /** The name that it was asked for by, or was given by a renaming. */
    String getName();

    /** The configuration's codec. Nothing here is encoded by it. */
    Codec getCodec();

    /** Deletes it. True if it was there. */
    boolean delete();

    /** As {@link #delete()}. */
    boolean unlink();

    /** Whether it is there. */
    boolean isExists();

    /** Notes an access to it. True if it is there. */
    boolean touch();

    /**
     * Gives it another name, in the place of what has that name; this object goes with it. In a cluster both names have to be in one slot.
     *
     * @throws org.redisson.client.RedisException if it is not there
     */
    void rename(String newName);

    /**
     * As {@link #rename}, unless something has that name.
     *
     * @return whether it was done
     */
    boolean renamenx(String newName);

    /** Moves it to another database of the server. False if it is not there, or something of its name is. */
    boolean move(int database);

    /**
     * Copies it to another name, in this database. False if it is not there, or something has that name. In a cluster both names have to be
     * in one slot.
     *
     * @throws UnsupportedOperationException from a {@link RPermitExpirableSemaphore}: no id can be out twice
     */
    boolean copy(String destination);

    /** As {@link #copy(String)}, in that database. */
    boolean copy(String destination, int database);

    /** As {@link #copy(String)}, in the place of what has that name. */
    boolean copyAndReplace(String destination);

    /** As {@link #copyAndReplace(String)}, in that database. */
    boolean copyAndReplace(String destination, int database);

    /**
     * Has the server copy it to another server, which keeps both from answering meanwhile. Nothing happens if it is not there.
     *
     * @param timeout in ms, of each step of it
     * @throws org.redisson.client.RedisException if that cannot be reached, or has it already
     */
    void copy(String host, int port, int database, long timeout);

    /** As {@link #copy(String, int, int, long)}, and it is here no more. */
    void migrate(String host, int port, int database, long timeout);

    /** The value of its key, in the server's own form; null if it is not there. Of permits with ids it is how many are available. */
    byte[] dump();

    /**
     * Sets it to what {@link #dump} gave.
     *
     * @throws org.redisson.client.RedisException if it is there, or the server cannot read that
     */
    void restore(byte[] state);

    /** As {@link #restore(byte[])}, with an end; 0 for none. */
    void restore(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** As {@link #restore(byte[])}, in the place of what is there. */
    void restoreAndReplace(byte[] state);

    /** As {@link #restoreAndReplace(byte[])}, with an end; 0 for none. */
    void restoreAndReplace(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** How many bytes of the server's memory it takes; 0 if it is not there. */
    long sizeInMemory();

    /** For how many seconds no client has used it; 0 if it is not there. */
    Long getIdleTime();

    /** How many references to its value the server has; 0 if it is not there. */
    int getReferenceCount();

    /**
     * How often it is used, on the server's logarithmic scale; 0 if it is not there.
     *
     * @throws org.redisson.client.RedisException unless the server counts that, by a {@code maxmemory-policy} with {@code lfu}
     */
    int getAccessFrequency();

    /** How the server keeps it. */
    ObjectEncoding getInternalEncoding();

    /**
     * Has the listener called when its key expires ({@link ExpiredObjectListener}) or is deleted ({@link DeletedObjectListener}).
     *
     * @return the number for {@link #removeListener}
     * @throws UnsupportedOperationException if the server is not set up to tell of that; the message says how to
     */
    int addListener(ObjectListener listener);

    /** Ends a listener. */
    void removeListener(int listenerId);
}
