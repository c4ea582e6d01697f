package io.redlatch.internal;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Texts of programs and files as a message may show them. A password may stand where it does not belong, so a message shows only text that is
 * certainly none. {@code shown.rs} of the core has the same rules.
 */
public final class Shown {
    private static final int MOST = 100;
    private static final Pattern SCHEME = Pattern.compile("[a-z+]*");
    /** {@code host}, {@code host:port}, {@code [ip6]:port}; or nothing. */
    private static final Pattern HOST = Pattern.compile("([A-Za-z0-9._-]*|\\[[0-9A-Fa-f:.]*])(:[0-9]{0,5})?");

    private Shown() {}

    /** A URL, or what should be one: its scheme and its hosts, if they can be told from a password for certain; else how long it is. */
    public static String url(String text) {
        int colon = text.indexOf("://");
        String scheme = colon < 0 ? "" : text.substring(0, colon + 3);
        String rest = text.substring(scheme.length());
        int end = rest.split("[/?#]", 2)[0].length();
        String authority = rest.substring(0, end);
        String behind = rest.substring(end);
        int at = authority.lastIndexOf('@');
        String hosts = authority.substring(at + 1);
        // Without a scheme, or with an `@` behind it, what looks like a host may be the half of a password.
        boolean plain = scheme.isEmpty() ? at < 0 && behind.isEmpty()
                : SCHEME.matcher(text.substring(0, colon)).matches() && behind.indexOf('@') < 0;
        if (!plain || !Arrays.stream(hosts.split(",", -1)).allMatch(host -> HOST.matcher(host).matches())) {
            return hidden(text);
        }
        return cut(scheme + (at < 0 ? "" : "…@") + hosts + (behind.isEmpty() || behind.equals("/") ? behind : "/…"));
    }

    /** The value of a setting. */
    public static String value(String setting, String text) {
        // An address with a login, a URL with options, or the content of a file where its name belongs.
        boolean mayHaveOne = text.indexOf('@') >= 0 || text.indexOf('\n') >= 0 || isSecret(text);
        return isSecret(setting) || mayHaveOne ? hidden(text) : cut(text);
    }

    /** Whether every value of a setting is a password. */
    public static boolean isSecret(String setting) {
        return setting.toLowerCase(Locale.ROOT).contains("password");
    }

    private static String hidden(String text) {
        return "… (" + text.codePointCount(0, text.length()) + " characters)";
    }

    private static String cut(String text) {
        return text.length() > MOST ? text.substring(0, MOST) + "…" : text;
    }
}
