import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The public API as a text, so that every change to it shows in a review. */
class ApiTest {
    private static final Path TEXT = Paths.get("tests/api/java.txt");
    private static final String RENEW = "gradle -Pprofile=ci -PrenewApi junit";
    private static final Path PAGE = Paths.get("docs/java.md");
    private static final Path KINDS = Paths.get("docs/kinds.md");
    private static final String OURS = "io.redlatch.";
    private static final String INTERNAL = "io.redlatch.internal.";
    /** Public only for the sake of classes in other packages: they need what {@code Config} and {@code Redisson} show their own package alone. */
    private static final Set<String> ACCESS = Set.of("org.redisson.config.ConfigAccess", "org.redisson.Connecting");

    @Test
    void the_public_api_is_the_one_under_review() throws Exception {
        List<String> now = new ArrayList<>();
        for (String name : classesForApplications()) {
            describe(Loaded.ours(name), now);
        }
        if (Boolean.getBoolean("api.renew")) {
            Files.write(TEXT, now);
        }
        List<String> reviewed = Files.readAllLines(TEXT);
        if (!now.equals(reviewed)) {
            StringBuilder difference = new StringBuilder();
            reviewed.stream().filter(line -> !now.contains(line)).forEach(line -> difference.append("\n- ").append(line));
            now.stream().filter(line -> !reviewed.contains(line)).forEach(line -> difference.append("\n+ ").append(line));
            fail("the public API is not that of " + TEXT + ":" + difference + "\nif that is meant, renew the text: " + RENEW);
        }
    }

    @Test
    void io_redlatch_has_the_types_that_its_page_and_the_table_of_kinds_name_and_no_others() throws Exception {
        Set<String> documented = new TreeSet<>();
        Matcher rows = Pattern.compile("(?m)^\\| `io\\.redlatch\\.(\\w+)` \\|").matcher(Files.readString(PAGE));
        while (rows.find()) {
            documented.add(OURS + rows.group(1));
        }
        Matcher kinds = Pattern.compile("`(\\w+)\\.of\\(client, name\\)` of `io\\.redlatch`").matcher(Files.readString(KINDS));
        while (kinds.find()) {
            documented.add(OURS + kinds.group(1));
        }
        Set<String> present = classesForApplications();
        present.removeIf(name -> !name.startsWith(OURS));
        assertEquals(documented, present);
        for (String name : present) {
            assertTrue(Modifier.isPublic(Loaded.ours(name).getModifiers()), name + " is not public; it belongs into " + INTERNAL);
        }
    }

    @Test
    void no_signature_of_io_redlatch_names_an_internal_type() throws Exception {
        List<String> lines = new ArrayList<>();
        for (String name : classesForApplications()) {
            if (name.startsWith(OURS)) {
                describe(Loaded.ours(name), lines);
            }
        }
        assertTrue(lines.size() > 30, lines.size() + " lines");
        lines.removeIf(line -> !line.contains(INTERNAL));
        assertEquals(List.of(), lines);
    }

    /** The names of all classes in the jar but those of the package that applications are not to touch. */
    private static Set<String> classesForApplications() throws Exception {
        Set<String> names = Loaded.classesIn(Child.jar());
        names.removeIf(name -> name.endsWith("-info") || name.startsWith(INTERNAL) || ACCESS.contains(name));
        return names;
    }

    private static void describe(Class<?> type, List<String> lines) {
        if (!Modifier.isPublic(type.getModifiers())) {
            return;
        }
        lines.add(type.toGenericString() + parents(type));
        Set<String> members = new TreeSet<>();
        for (Class<?> each = type; each != null && (each == type || !Modifier.isPublic(each.getModifiers())); each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                add(field, field, field.toGenericString(), each, type, members);
            }
            for (Executable callable : Stream.of(each.getDeclaredConstructors(), each.getDeclaredMethods()).flatMap(Stream::of)
                    .toArray(Executable[]::new)) {
                if (each == type || !(callable instanceof java.lang.reflect.Constructor)) {
                    add(callable, callable, callable.toGenericString(), each, type, members);
                }
            }
        }
        lines.addAll(members);
    }

    private static void add(Member member, AnnotatedElement marks, String text, Class<?> declaring, Class<?> type, Set<String> members) {
        boolean seen = Modifier.isPublic(member.getModifiers())
                || Modifier.isProtected(member.getModifiers()) && !Modifier.isFinal(type.getModifiers());
        if (seen && !member.isSynthetic()) {
            String qualified = declaring.getName() + (member instanceof java.lang.reflect.Constructor ? "(" : ".");
            String own = text.replace(" " + qualified, qualified.endsWith("(") ? " new(" : " ");
            members.add("    " + (marks.isAnnotationPresent(Deprecated.class) ? "@Deprecated " : "") + own);
        }
    }

    private static String parents(Class<?> type) {
        StringBuilder parents = new StringBuilder();
        if (type.getSuperclass() != null && type.getSuperclass() != Object.class) {
            parents.append(" extends ").append(type.getGenericSuperclass().getTypeName());
        }
        for (var each : type.getGenericInterfaces()) {
            parents.append(" < ").append(each.getTypeName());
        }
        return parents.toString();
    }
}
