package io.redlatch.beside;

import io.redlatch.ClassPathConflictException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/** Finds a second set of redlatch's classes on the class path: those of its own jar, which stands in Redisson's place. */
final class Conflict {
    /** A class of both jars, whose methods take Redisson's types in one and the moved types in the other. */
    private static final String ENTRY = "io/redlatch/Holds.class";

    private Conflict() {}

    /** @throws ClassPathConflictException naming the places of all sets, if there is more than one */
    static void check() {
        Set<String> places = new TreeSet<>();
        try {
            for (URL found : Collections.list(Conflict.class.getClassLoader().getResources(ENTRY))) {
                String text = found.toString();
                String place = text.substring(0, text.length() - ENTRY.length());
                places.add(place.startsWith("jar:") && place.endsWith("!/") ? place.substring(4, place.length() - 2) : place);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the class path cannot be searched for " + ENTRY, e);
        }
        if (places.size() > 1) {
            throw new ClassPathConflictException("io.redlatch classes are on the class path " + places.size() + " times: "
                    + String.join(" and ", places) + "; beside Redisson keep one io.redlatch:redlatch-beside, and remove io.redlatch:redlatch, "
                    + "which stands in Redisson's place");
        }
    }
}
