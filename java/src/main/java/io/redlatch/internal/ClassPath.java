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
     * @throws ClassPathConflictException naming the places of all sets, if there is more than one
     */
    public static void check(Class<?> ours) {
        Set<String> places = new LinkedHashSet<>();
        try {
            for (URL found : Collections.list(ours.getClassLoader().getResources(ENTRY))) {
                places.add(place(found));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the class path cannot be searched for " + ENTRY, e);
        }
        if (places.size() > 1) {
            throw new ClassPathConflictException("org.redisson classes are on the class path " + places.size() + " times: "
                    + String.join(" and ", places) + "; keep io.redlatch:redlatch or org.redisson:redisson, and remove the other");
        }
    }

    private static String place(URL url) {
        String text = url.toString();
        String place = text.substring(0, text.length() - ENTRY.length());
        return place.startsWith("jar:") && place.endsWith("!/") ? place.substring(4, place.length() - 2) : place;
    }
}
