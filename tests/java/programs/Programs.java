import java.util.List;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Runs every small program, one after the other, each with a client of its own; ProgramsTest compares what they show. */
public final class Programs {
    private static final List<SmallProgram> ALL = List.of(new AfterCommit(), new AsyncLocks(), new CodecsAndLocks(), new ConfigByYaml(),
            new CountDown(), new EndsUnderConditions(), new ErrorsOfUsers(), new ExpiringPermits(), new FairTurns(),
            new FairTurnsOfClients(), new FencedTokens(), new FilesOfDeployments(), new ForcedByAnother(), new FuturesOfLocks(),
            new GivesUpAndTriesAgain(), new Interruption(), new KeysListed(), new KeysTidied(), new LeaderByLock(), new LeaseThatEnds(),
            new Listeners(), new LoadedOnce(), new LocksByName(), new LocksOfTheJdk(), new MajorityOfLocks(), new ManyLocksAtOnce(),
            new NamesAndMappers(), new NestedMethods(), new NonReentrant(), new ObjectsAsKeys(), new OptionsOfOneLock(),
            new OwnersByNumber(), new PaidOnce(), new PoolsOfTasks(), new ReactiveLocks(), new ReadersAndWriter(), new ReentrantLock(),
            new RegistryOfLocks(), new RxLocks(), new RxTransfers(), new ScheduledOnce(), new SemaphoreWithAnEnd(), new Semaphores(),
            new ShuttingDown(), new SlotsOfAnApi(), new SpinLocks(), new StagesOfCoroutines(), new StartGate(), new StockOfTwoShops(),
            new StoppedWorkers(), new StoreThatRefuses(), new Tenants(), new TimeThatIsLeft(), new TransfersInAnyOrder(),
            new TriesInTime(), new UnlockTooLate(), new VirtualThreads(), new WebFluxHandlers(), new WriterThatReadsOn());

    private Programs() {}

    /** @param arguments an address */
    public static void main(String... arguments) throws Exception {
        for (SmallProgram each : ALL) {
            Config config = new Config();
            config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(1).setRetryAttempts(1);
            RedissonClient redisson = Clients.create(config);
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
