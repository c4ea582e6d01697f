package io.redlatch.internal;

import io.redlatch.ClassPathConflictException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/** Finds a second set of {@code org.redisson} classes on the class path. */
public final class ClassPath {
    private static final String ENTRY = "org/redisson/Redisson.class";

    private ClassPath() {}

    /**
     * Looks for a second set of {@code org.redisson} classes where {@code ours} comes from.
     *
     * @throws ClassPathConflictException naming the locations of all sets, if there is more than one
     */
    public static void check(Class<?> ours) {
        Set<String> locations = new LinkedHashSet<>();
        try {
            for (URL found : Collections.list(ours.getClassLoader().getResources(ENTRY))) {
                locations.add(location(found));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the class path cannot be searched for " + ENTRY, e);
        }
        if (locations.size() > 1) {
            throw new ClassPathConflictException("org.redisson classes are on the class path " + locations.size() + " times: "
                    + String.join(" and ", locations) + "; keep io.redlatch:redlatch or org.redisson:redisson, and remove the other");
        }
    }

    private static String location(URL url) {
        String text = url.toString();
        String location = text.substring(0, text.length() - ENTRY.length());
        return location.startsWith("jar:") && location.endsWith("!/") ? location.substring(4, location.length() - 2) : location;
    }
}
