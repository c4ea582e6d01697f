import java.io.File;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The real Redisson, in a class loader of its own: nothing of ours is seen from there. */
final class Loaded {
    /** Redisson's jar and what it needs; set by build.gradle. */
    static final String CLASS_PATH = System.getProperty("redisson.classpath");

    private static final ClassLoader LOADER = new URLClassLoader(
            Arrays.stream(CLASS_PATH.split(File.pathSeparator)).map(Loaded::url).toArray(URL[]::new), ClassLoader.getPlatformClassLoader());

    private Loaded() {}

    static Class<?> redissons(String name) throws ClassNotFoundException {
        return LOADER.loadClass(name);
    }

    static Class<?> ours(String name) throws ClassNotFoundException {
        return Class.forName(name, false, Loaded.class.getClassLoader());
    }

    /** The names of the classes in a jar, in order. */
    static Set<String> classesIn(String jar) throws Exception {
        try (JarFile file = new JarFile(jar)) {
            return file.stream().map(entry -> entry.getName()).filter(name -> name.endsWith(".class"))
                    .map(name -> name.substring(0, name.length() - 6).replace('/', '.')).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    static String redissonsJar() {
        return Arrays.stream(CLASS_PATH.split(File.pathSeparator)).filter(path -> new File(path).getName().startsWith("redisson-"))
                .findFirst().orElseThrow();
    }

    /** The methods that compiled programs call: every public method and constructor, inherited ones too, with erased types. */
    static Set<String> calls(Class<?> type) {
        Set<String> calls = new TreeSet<>();
        for (Method method : type.getMethods()) {
            if (method.getDeclaringClass() != Object.class) {
                boolean fallback = type.isInterface() && method.isDefault();
                String modifiers = (Modifier.isStatic(method.getModifiers()) ? "static " : "") + (fallback ? "default " : "");
                calls.add(modifiers + method.getReturnType().getTypeName() + " " + method.getName() + inputs(method));
            }
        }
        if (!Modifier.isAbstract(type.getModifiers())) {
            Stream.of(type.getConstructors()).forEach(constructor -> calls.add("new" + inputs(constructor)));
        }
        return calls;
    }

    private static String inputs(Executable callable) {
        String types = Arrays.stream(callable.getParameterTypes()).map(Class::getTypeName).collect(Collectors.joining(", ", "(", ")"));
        String thrown = Arrays.stream(callable.getExceptionTypes()).map(Class::getTypeName).sorted().collect(Collectors.joining(", "));
        return types + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private static URL url(String path) {
        try {
            return new File(path).toURI().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }
}
