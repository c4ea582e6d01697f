import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The block about Kotlin on the page about Java, compiled and run as it is written. */
class KotlinPageTest {
    @Test
    fun the_block_runs(@TempDir directory: Path) {
        val page = Files.readString(Path.of("docs/java.md"))
        val block = Regex("(?ms)^## Kotlin$.*?^```kotlin\n(.*?)^```$").find(page)!!.groupValues[1]
        val program = block.replace("redis://localhost:6379", TestServer.shared().url())
        val source = Files.writeString(directory.resolve("Page.kt"), program)
        val libraries = System.getProperty("kotlin.classpath")
        val compiled = Child(System.getProperty("kotlin.compiler.classpath"), directory).option("-XX:TieredStopAtLevel=1")
            .run("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-cp", libraries, "-d", "$directory", "$source")
        assertTrue(!compiled.contains("error:"), compiled)
        val output = Child(libraries, directory).option("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn").run("PageKt")
        assertEquals("orders:42 is paid\nbusy: null\nended by itself", output)
    }
}
