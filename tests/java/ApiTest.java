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
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The public API as a text, so that every change to it shows in a review. */
class ApiTest {
    private static final Path TEXT = Paths.get("tests/api/java.txt");
    private static final String RENEW = "gradle -Pprofile=ci -PrenewApi junit";
    /** Public only for the sake of the {@code org.redisson} classes. */
    private static final Set<String> INTERNAL = Set.of("io.redlatch.Answer", "io.redlatch.Core", "io.redlatch.Document",
            "io.redlatch.Log",
            "io.redlatch.Request", "io.redlatch.Shown", "io.redlatch.UserCode", "org.redisson.config.ConfigAccess");

    @Test
    void the_public_api_is_the_one_under_review() throws Exception {
        List<String> now = new ArrayList<>();
        for (String name : Loaded.classesIn(Child.jar())) {
            if (!name.endsWith("-info") && !INTERNAL.contains(name)) {
                describe(Loaded.ours(name), now);
            }
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
