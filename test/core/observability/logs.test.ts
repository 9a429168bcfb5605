import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createLogs, type Logs, type LogsOptions } from '@cinnabar/core/internal/observability/logs';
import { CinnabarError } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { z } from 'zod';

const line = z.looseObject({ time: z.string(), level: z.string(), component: z.string(), message: z.string() });

/** Logs into a folder of the test's own; `written` closes them and gives what is there then. */
function given(options: Partial<LogsOptions> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'cinnabar-logs-'));
  const stream = new PassThrough();
  const logs: Logs = createLogs({
    dir: join(dir, 'logs'),
    level: 'debug',
    console: { stream, level: 'info' },
    clock: createManualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 6)),
    ...options,
  });
  const written = async () => {
    await logs.close();
    const names = readdirSync(join(dir, 'logs'));
    const read = (name: string) => {
      const file = names.find((one) => new RegExp(`^${name}-\\d{4}-\\d\\d-\\d\\d\\.log$`).test(one));
      const text = file === undefined ? '' : readFileSync(join(dir, 'logs', file), 'utf8');
      return text.split('\n').slice(0, -1);
    };
    return {
      terminal: String(stream.read() ?? ''),
      entries: read('cinnabar').map((text) => line.parse(JSON.parse(text))),
      errors: read('errors').map((text) => line.parse(JSON.parse(text))),
      audit: read('audit').map((text): unknown => JSON.parse(text)),
      raw: ['cinnabar', 'errors', 'audit'].flatMap(read).join('\n'),
      modes: names
        .filter((name) => name.endsWith('.log'))
        .map((name) => statSync(join(dir, 'logs', name)).mode & 0o777),
    };
  };
  return { dir, logs, stream, written, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

describe('the logs', () => {
  it('are JSON lines in the file of the day, with component and ids at the top', async () => {
    using test = given();
    test.logs.logger('party').child({ guildId: '7' }).info('card posted', { callId: 'c1' });
    const { entries, modes } = await test.written();
    expect(entries).to.deep.equal([
      {
        time: '2026-01-02T03:04:05.006Z',
        level: 'info',
        component: 'party',
        message: 'card posted',
        guildId: '7',
        callId: 'c1',
      },
    ]);
    expect(new Set(modes)).to.deep.equal(new Set([0o600]));
  });

  it('are for people on the terminal', async () => {
    using test = given();
    test.logs.logger('party').info('card posted', { callId: 'c1', text: 'two words', list: [1] });
    expect((await test.written()).terminal).to.equal(
      '2026-01-02T03:04:05.006Z info  party: card posted callId=c1 text="two words" list=[1]\n',
    );
  });

  it('keep errors in a file of their own as well', async () => {
    using test = given();
    const log = test.logs.logger('party');
    log.info('one');
    log.error('two');
    const { entries, errors } = await test.written();
    expect(entries.map(({ message }) => message)).to.deep.equal(['one', 'two']);
    expect(errors.map(({ message }) => message)).to.deep.equal(['two']);
  });

  it('hold to the level of the files and to that of the terminal', async () => {
    using test = given({ level: 'info', console: { stream: new PassThrough(), level: 'error' } });
    const log = test.logs.logger('party');
    for (const level of ['error', 'warn', 'info', 'debug'] as const) log[level](level);
    expect((await test.written()).entries.map(({ level }) => level)).to.deep.equal(['error', 'warn', 'info']);
  });

  it('show debug on the terminal alone when only it asks for it', async () => {
    using test = given({ level: 'warn' });
    const log = test.logs.logger('party');
    log.info('for the terminal');
    log.warn('for both');
    const { entries, terminal } = await test.written();
    expect(entries.map(({ message }) => message)).to.deep.equal(['for both']);
    expect(terminal.split('\n')).to.have.length(3);
  });

  it('keep audit entries apart from everything else', async () => {
    using test = given({ level: 'error' });
    test.logs.audit({ callId: 'c1', outcome: 'done', latencyMs: 12 });
    const { audit, entries } = await test.written();
    expect(audit).to.deep.equal([{ time: '2026-01-02T03:04:05.006Z', callId: 'c1', outcome: 'done', latencyMs: 12 }]);
    expect(entries).to.deep.equal([]);
  });

  it('are complete and in order when they are closed, however much was written', async () => {
    using test = given({ console: { stream: new PassThrough(), level: 'error' } });
    const log = test.logs.logger('party');
    for (let number = 0; number < 3_000; number += 1) log.debug(`entry ${number}`);
    const { entries } = await test.written();
    expect(entries.map(({ message }) => message)).to.deep.equal(
      Array.from({ length: 3_000 }, (_, number) => `entry ${number}`),
    );
  });

  it('may be closed twice, and before anything was written', async () => {
    using test = given();
    await test.logs.close();
    await test.logs.close();
    test.logs.logger('late').error('too late');
    expect(readdirSync(test.dir)).to.deep.equal([]);
  });

  it('do not stop the host when their folder cannot be written', async () => {
    using test = given();
    const dir = join(test.dir, 'a-file');
    writeFileSync(dir, '');
    const stream = new PassThrough();
    const logs = createLogs({ dir, level: 'info', console: { stream, level: 'info' }, clock: createManualClock() });
    logs.logger('party').error('still here');
    logs.audit({ callId: 'c1' });
    await logs.close();
    const text = String(stream.read());
    expect(text).to.contain('cannot be written').and.to.contain('still here');
    expect(text.match(/cannot be written/g)).to.have.length(1);
  });
});

describe('an error in the logs', () => {
  it('keeps its code, stack and cause', async () => {
    using test = given();
    const error = new CinnabarError(
      'CINNABAR_STORAGE_WRITE',
      { document: 'd', detail: 'x' },
      { cause: new TypeError('disk') },
    );
    test.logs.logger('party').error('not saved', { error, guildId: '7' });
    const { entries, terminal } = await test.written();
    expect(entries[0]?.error).to.include({ name: 'CinnabarError', code: 'CINNABAR_STORAGE_WRITE' });
    const { stack, cause } = z
      .looseObject({ stack: z.string(), cause: z.looseObject({ message: z.string(), stack: z.string() }) })
      .parse(entries[0]?.error);
    expect(stack).to.contain('logs.test');
    expect(cause.message).to.equal('disk');
    expect(terminal).to.contain('caused by').and.to.contain('code: CINNABAR_STORAGE_WRITE');
  });
});

describe('what is logged', () => {
  const token = ['MTA5ODc2NTQzMjEwOTg3NjU0Mw', 'GaBcDe', 'x'.repeat(38)].join('.');

  it('never holds a secret: not in messages, fields, names, errors, causes or audit entries', async () => {
    using test = given();
    test.logs.redactor.add('hunter2');
    const log = test.logs.logger('party').child({ bound: 'hunter2' });
    log.error('said hunter2', {
      deep: { list: [{ text: 'my hunter2' }], 'hunter2 as a name': 1 },
      map: new Map([['k', 'hunter2']]),
      error: Object.assign(new Error('hunter2', { cause: new Error(`with ${token}`) }), {
        url: `https://x/?token=abc&h=hunter2`,
      }),
      apiKey: 'not-registered',
      headers: { Authorization: 'not-registered' },
    });
    test.logs.audit({ arguments: { note: 'hunter2' } });
    const { raw, terminal, entries } = await test.written();
    for (const secret of ['hunter2', token, 'not-registered', 'token=abc']) {
      expect(raw, secret).to.not.contain(secret);
      expect(terminal, secret).to.not.contain(secret);
    }
    expect(entries[0]?.message).to.equal('said [redacted]');
  });

  it('cannot start a line of its own or move the cursor of whoever reads it', async () => {
    using test = given();
    const evil = 'a\n2026-01-01T00:00:00.000Z error host: forged\r\u001b[2J\u009b1A\u202e\u2028end';
    test.logs.logger('party').info(evil, { name: evil, [evil]: 1, error: new Error(evil) });
    test.logs.audit({ name: evil });
    const { raw, terminal, entries } = await test.written();
    expect(
      terminal
        .split('\n')
        .slice(1, -1)
        .every((one) => one.startsWith('    ')),
    ).to.equal(true);
    expect(terminal.replaceAll('\n', '')).to.not.match(/[\p{Cc}\p{Cf}\u2028]/u);
    expect(raw.replaceAll('\n', '')).to.not.match(/[\p{Cc}\p{Cf}\u2028]/u);
    expect(entries[0]?.message, 'a reader of the file gets it whole').to.equal(evil);
  });

  it('is bounded, whatever it is given', async () => {
    using test = given();
    const circular: Record<string, unknown> = { name: 'loop' };
    circular.self = circular;
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100; level += 1) deep = { deep };
    const wide = Array.from({ length: 10_000 }, () => Array.from({ length: 1_000 }, () => 'x'));
    const hostile = {
      get getter(): never {
        throw new Error('no');
      },
      toJSON: () => {
        throw new Error('no');
      },
      bigint: 1n,
      symbol: Symbol('s'),
      nothing: undefined,
      number: Number.NaN,
      date: new Date(Number.NaN),
      buffer: Buffer.alloc(1_000_000),
      revoked: (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
    };
    test.logs
      .logger('party')
      .info('x'.repeat(1_000_000), { circular, deep, wide, hostile, long: 'y'.repeat(1_000_000) });
    const { raw, entries } = await test.written();
    expect(raw.length).to.be.below(100_000);
    expect(entries[0]?.circular).to.deep.equal({ name: 'loop', self: '(circular)' });
    expect(entries[0]?.hostile).to.deep.equal({
      getter: '(unreadable)',
      toJSON: 'function',
      bigint: '1',
      symbol: 'Symbol(s)',
      nothing: 'undefined',
      number: 'NaN',
      date: 'invalid date',
      buffer: '1000000 bytes',
      revoked: '(unreadable)',
    });
  });

  it('names Discord objects by kind and id, so that nobody reads along', async () => {
    class Message {
      constructor(
        readonly id: string,
        readonly content: string,
      ) {}
    }
    using test = given();
    test.logs.logger('party').info('got', { message: new Message('12', 'my diary'), plain: { id: '13' } });
    const { entries } = await test.written();
    expect(entries[0]).to.deep.include({ message_: 'Message(12)', plain: { id: '13' } });
  });
});
