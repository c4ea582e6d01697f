package org.redisson.config;

import io.redlatch.internal.Document;
import io.redlatch.internal.Shown;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.MalformedURLException;
import java.net.URL;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Makes the values of settings out of what a file has for them. */
final class Values {
    /** Stands for a value of a class of Redisson that this library lacks. */
    static final Object PASSED_OVER = new Object();

    private static final Set<String> PLAIN_TAGS = Set.of("str", "int", "float", "bool", "null", "seq", "map", "set");

    private final Tagged tagged;

    Values(ClassLoader loader, Tagged.BeanFiller filler) {
        tagged = new Tagged(loader, filler, this);
    }

    /** @throws IllegalArgumentException naming {@code path} and the value, if it cannot be of that type */
    Object make(Document value, Type type, String path) {
        Class<?> raw = (Class<?>) (type instanceof ParameterizedType ? ((ParameterizedType) type).getRawType() : type);
        if (value.isNull()) {
            return null;
        }
        String tag = value.tag() == null || PLAIN_TAGS.contains(value.tag()) ? named(value, raw) : value.tag();
        if (tag != null && Shown.isSecret(path)) {
            throw new IllegalArgumentException(path + " begins like the name of a class; put it in quotes");
        }
        if (tag != null) {
            return tagged.make(tag, value, raw, path);
        }
        try {
            if (raw == String[].class) {
                return list(value, String.class, path).toArray(new String[0]);
            }
            if (raw == List.class || raw == Set.class) {
                List<Object> items = list(value, argument(type, 0), path);
                return raw == Set.class ? new LinkedHashSet<>(items) : items;
            }
            if (raw == Map.class) {
                return map(value, type, path);
            }
            return value.text() == null ? tagged.untagged(raw, value, path) : scalar(value.text(), raw);
        } catch (IllegalArgumentException | DateTimeException | MalformedURLException e) {
            if (value.text() == null) {
                throw (IllegalArgumentException) e; // it names the part of the value
            }
            String shown = Shown.value(path, value.text());
            // The exceptions of the JDK have the whole text.
            throw new IllegalArgumentException(path + " is `" + shown + "`, it must be " + expected(raw), shown.equals(value.text()) ? e : null);
        }
    }

    /** JSON has no tags: there the name of the class is one of the values. */
    private static String named(Document value, Class<?> raw) {
        boolean names = value.entries() != null && raw != Map.class && value.entries().containsKey("class");
        return names ? value.entries().get("class").text() : null;
    }

    private static Object scalar(String text, Class<?> type) throws MalformedURLException {
        if (type == String.class) {
            return text;
        }
        if (type == int.class) {
            return Integer.decode(text.replace("_", ""));
        }
        if (type == long.class) {
            return Long.decode(text.replace("_", ""));
        }
        if (type == boolean.class) {
            return truth(text);
        }
        if (type == Duration.class) {
            return Duration.parse(text);
        }
        if (type == URL.class) {
            return new URL(text);
        }
        if (type.isEnum()) {
            return Arrays.stream(type.getEnumConstants()).filter(each -> ((Enum<?>) each).name().equals(text)).findFirst()
                    .orElseThrow(IllegalArgumentException::new);
        }
        throw new IllegalArgumentException();
    }

    private static boolean truth(String text) {
        String word = text.toLowerCase(Locale.ROOT);
        boolean truth = List.of("true", "yes", "on").contains(word);
        if (!truth && !List.of("false", "no", "off").contains(word)) {
            throw new IllegalArgumentException();
        }
        return truth;
    }

    private static String expected(Class<?> type) {
        if (type == int.class || type == long.class) {
            return "a whole number that fits into " + type;
        }
        if (type == boolean.class) {
            return "true or false";
        }
        if (type == Duration.class) {
            return "a duration such as PT1.5S";
        }
        if (type == URL.class) {
            return "a URL such as file:/etc/trust.p12";
        }
        if (type.isEnum()) {
            return "one of " + Arrays.toString(type.getEnumConstants());
        }
        return type == String.class ? "a text" : "of a class that its tag names, as in `!<com.example.Mine> {}`";
    }

    private List<Object> list(Document value, Type type, String path) {
        List<Object> items = new ArrayList<>();
        for (Document item : value.items() == null ? List.of(value) : value.items()) {
            items.add(make(item, type, path + "[" + items.size() + "]"));
        }
        return items;
    }

    private Map<String, Object> map(Document value, Type type, String path) {
        if (value.entries() == null) {
            throw new IllegalArgumentException(path + " is no map");
        }
        Map<String, Object> map = new LinkedHashMap<>();
        value.entries().forEach((name, each) -> map.put(name, make(each, argument(type, 1), path + "." + name)));
        return map;
    }

    private static Type argument(Type type, int index) {
        return type instanceof ParameterizedType ? ((ParameterizedType) type).getActualTypeArguments()[index] : String.class;
    }
}
