package io.redlatch.spring;

import java.util.concurrent.Callable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** A bean with locks and transactions. */
class Accounts {
    private final JdbcTemplate database;

    Accounts(JdbcTemplate database) {
        this.database = database;
        database.execute("create table if not exists account (id varchar(50))");
    }

    /** The lock and the transaction are of one method. */
    @Transactional
    @DistributedLock(name = "order:#{id}", waitTime = "0s")
    public void open(String id, Callable<?> before) throws Exception {
        database.update("insert into account values (?)", id);
        before.call();
    }

    /** The lock is of a method that the caller's transaction calls. */
    @DistributedLock(name = "order:#{id}", waitTime = "0s")
    public void insert(String id) {
        database.update("insert into account values (?)", id);
    }

    long count(String id) {
        return database.queryForObject("select count(*) from account where id = ?", Long.class, id);
    }
}
