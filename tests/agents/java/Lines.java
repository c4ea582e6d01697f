// The commands and answers of the agents in Java: JSON objects without nesting, one a line.

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

final class Lines {
    private static final Pattern FIELD = Pattern.compile("\"(\\w+)\"\\s*:\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|(-?\\d+)|null)");

    private Lines() {}

    static Map<String, String> fields(String line) {
        Map<String, String> fields = new HashMap<>();
        Matcher field = FIELD.matcher(line);
        while (field.find()) {
            String word = field.group(2);
            String value = word == null ? field.group(3) : word.replaceAll("\\\\(.)", "$1");
            if (value != null) {
                fields.put(field.group(1), value);
            }
        }
        return fields;
    }

    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            out.append(c == '"' || c == '\\' ? "\\" + c : c < ' ' ? " " : String.valueOf(c));
        }
        return out.append('"').toString();
    }

    /** @param rest the fields behind the id */
    static synchronized void answer(String id, String rest) {
        System.out.println("{\"id\":" + id + "," + rest + "}");
        System.out.flush();
    }

    static void fail(String id, Throwable failure) {
        answer(id, "\"error\":" + quoted(failure.getClass().getSimpleName()) + ",\"message\":" + quoted(String.valueOf(failure.getMessage())));
    }
}
