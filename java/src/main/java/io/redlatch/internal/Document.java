package io.redlatch.internal;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One value of a configuration file, YAML or JSON, as the core reads it: a text, a list or a map, and the type that its tag names. */
public final class Document {
    private final String tag;
    private final String text;
    private final boolean quoted;
    private final List<Document> items;
    private final Map<String, Document> entries;

    private Document(String tag, String text, boolean quoted, List<Document> items, Map<String, Document> entries) {
        this.tag = tag;
        this.text = text;
        this.quoted = quoted;
        this.items = items;
        this.entries = entries;
    }

    /**
     * Reads a file whose placeholders {@code ${NAME}} and {@code ${NAME:-default}} are system properties, else variables of the
     * environment.
     *
     * @throws IllegalArgumentException if it cannot be read; the message names the line
     */
    public static Document read(String text) {
        NativeLibrary.load();
        List<String> known = new ArrayList<>();
        System.getProperties().stringPropertyNames().forEach(name -> Collections.addAll(known, name, System.getProperty(name, "")));
        System.getenv().forEach((name, value) -> Collections.addAll(known, name, value));
        return new Reading(Native.document(text, known.toArray(new String[0]))).next();
    }

    /** The type that its tag names, or null. */
    public String tag() {
        return tag;
    }

    /** The text, or null of a list and a map. */
    public String text() {
        return text;
    }

    /** The values of a list, or null. */
    public List<Document> items() {
        return items;
    }

    /** The values of a map by name, in the order of the file; or null. */
    public Map<String, Document> entries() {
        return entries;
    }

    /** Whether it is YAML's null. */
    public boolean isNull() {
        return text != null && !quoted && (text.isEmpty() || text.equals("~") || text.equalsIgnoreCase("null"));
    }

    /** The steps through the tree that the native library wrote, two texts each: a mark and the tag, and what is there. */
    private static final class Reading {
        private final String[] steps;
        private int at;

        Reading(String[] steps) {
            this.steps = steps;
        }

        Document next() {
            char mark = steps[at].charAt(0);
            String tag = steps[at].length() == 1 ? null : steps[at].substring(1);
            String text = steps[at + 1];
            at += 2;
            if (mark == '[') {
                List<Document> items = new ArrayList<>();
                while (!skipped("]")) {
                    items.add(next());
                }
                return new Document(tag, null, false, items, null);
            }
            if (mark == '{') {
                Map<String, Document> entries = new LinkedHashMap<>();
                while (!skipped("}")) {
                    String name = steps[at + 1];
                    at += 2;
                    entries.put(name, next());
                }
                return new Document(tag, null, false, null, entries);
            }
            return new Document(tag, text, mark == '"', null, null);
        }

        /** Skips the next step if it has that mark; whether it had. */
        private boolean skipped(String mark) {
            if (!steps[at].equals(mark)) {
                return false;
            }
            at += 2;
            return true;
        }
    }
}
