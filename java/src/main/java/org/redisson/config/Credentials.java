package org.redisson.config;

import java.io.Serializable;

/** A user and a password, either of which may be missing. */
public class Credentials implements Serializable {
    private static final long serialVersionUID = 1;

    private final String username;
    private final String password;

    /** No user and no password. */
    public Credentials() {
        this(null, null);
    }

    /** Either may be null. */
    public Credentials(String username, String password) {
        this.username = username;
        this.password = password;
    }

    /** The user, or null. */
    public String getUsername() {
        return username;
    }

    /** The password, or null. */
    public String getPassword() {
        return password;
    }
}
