import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Runs every small program, one after the other, each with a client of its own; ProgramsTest compares what they show. */
public final class Programs {
    private static final List<SmallProgram> ALL = List.of(new AsyncLocks(), new ConfigByYaml(), new CountDown(),
            new EndsUnderConditions(), new ErrorsOfUsers(), new ExpiringPermits(), new FairTurns(), new FencedTokens(),
            new Interruption(), new KeysListed(), new KeysTidied(), new LeaseThatEnds(), new Listeners(), new MajorityOfLocks(),
            new ManyLocksAtOnce(), new NamesAndMappers(), new NonReentrant(), new ObjectsAsKeys(), new OptionsOfOneLock(),
            new ReactiveLocks(), new ReadersAndWriter(), new ReentrantLock(), new RxLocks(), new SemaphoreWithAnEnd(), new Semaphores(), new ShuttingDown(), new SpinLocks(),
            new TriesInTime());

    private Programs() {}

    /** @param arguments an address */
    public static void main(String... arguments) throws Exception {
        for (SmallProgram each : ALL) {
            Config config = new Config();
            config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(1).setRetryAttempts(1);
            RedissonClient redisson = Redisson.create(config);
            Show show = new Show(each.getClass().getSimpleName(), redisson.getId(), arguments[0]);
            try {
                each.run(redisson, show);
            } catch (Throwable e) {
                show.failure("the program ends with", e);
            }
            redisson.shutdown(0, 1, java.util.concurrent.TimeUnit.SECONDS);
        }
    }
}
