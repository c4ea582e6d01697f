package org.redisson.api;

import java.util.concurrent.TimeUnit;
import org.redisson.client.codec.Codec;

/**
 * An object that is a key on the server. Further keys of the object go where it goes: the permits of a {@link RPermitExpirableSemaphore} that
 * are out are renamed, moved and deleted with it. Waiters are not told.
 */
public interface RObject extends RObjectAsync {
    /** The name by which the program asked for the object, or that a renaming gave it. */
    String getName();

    /** The configuration's codec. Nothing here is encoded by it. */
    Codec getCodec();

    /** Deletes the object. True if it existed. */
    boolean delete();

    /** As {@link #delete()}. */
    boolean unlink();

    /** Whether the object exists. */
    boolean isExists();

    /** Notes an access to the object. True if it exists. */
    boolean touch();

    /**
     * Gives the object another name, and replaces a key that has that name already. In a cluster both names have to be in one slot.
     *
     * @throws org.redisson.client.RedisException if it is not there
     */
    void rename(String newName);

    /**
     * As {@link #rename}, unless something has that name.
     *
     * @return whether the object got the name
     */
    boolean renamenx(String newName);

    /** Moves a key to another database of the server. False if there is no such key, or the other database has one of that name. */
    boolean move(int database);

    /**
     * Copies the object to another name, in this database. False if it does not exist, or a key has that name. In a cluster both names have to be
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
     * Makes the server copy the object to another server; neither answers other calls meanwhile. Does nothing if the object does not exist.
     *
     * @param timeout of each step of the copy, in ms
     * @throws org.redisson.client.RedisException if the other server cannot be reached, or has such a key already
     */
    void copy(String host, int port, int database, long timeout);

    /** As {@link #copy(String, int, int, long)}, and it is here no more. */
    void migrate(String host, int port, int database, long timeout);

    /** The value of the object's key, in the server's own form; null if there is none. Of permits with ids it is how many are available. */
    byte[] dump();

    /**
     * Restores the object from the bytes of {@link #dump}.
     *
     * @throws org.redisson.client.RedisException if the object exists, or the server cannot read the bytes
     */
    void restore(byte[] state);

    /** As {@link #restore(byte[])}, with an end; 0 for none. */
    void restore(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** As {@link #restore(byte[])}, in the place of what is there. */
    void restoreAndReplace(byte[] state);

    /** As {@link #restoreAndReplace(byte[])}, with an end; 0 for none. */
    void restoreAndReplace(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** How many bytes of the server's memory the object takes; 0 if it does not exist. */
    long sizeInMemory();

    /** For how many seconds no client has used the object; 0 if it does not exist. */
    Long getIdleTime();

    /** How many references to the object's value the server has; 0 if it does not exist. */
    int getReferenceCount();

    /**
     * How often clients use the object, on the server's logarithmic scale; 0 if it does not exist.
     *
     * @throws org.redisson.client.RedisException unless the server counts uses, by a {@code maxmemory-policy} with {@code lfu}
     */
    int getAccessFrequency();

    /** The server's encoding of the object. */
    ObjectEncoding getInternalEncoding();

    /**
     * Adds a listener, which is called when the object's key expires ({@link ExpiredObjectListener}) or is deleted ({@link DeletedObjectListener}).
     *
     * @return the number for {@link #removeListener}
     * @throws UnsupportedOperationException if the server is not set up to tell of such events; the message names the setting
     */
    int addListener(ObjectListener listener);

    /** Ends a listener. */
    void removeListener(int listenerId);
}
