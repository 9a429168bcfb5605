import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { CinnabarError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { givenLogs } from './harness.js';

describe('the logs', () => {
  it('are JSON lines in the file of the day, with component and ids at the top', async () => {
    using test = givenLogs();
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
    using test = givenLogs();
    test.logs.logger('party').info('card posted', { callId: 'c1', text: 'two words', list: [1] });
    expect((await test.written()).terminal).to.equal(
      '2026-01-02T03:04:05.006Z info  party: card posted callId=c1 text="two words" list=[1]\n',
    );
  });

  it('keep errors in a file of their own as well', async () => {
    using test = givenLogs();
    const log = test.logs.logger('party');
    log.info('one');
    log.error('two');
    const { entries, errors } = await test.written();
    expect(entries.map(({ message }) => message)).to.deep.equal(['one', 'two']);
    expect(errors.map(({ message }) => message)).to.deep.equal(['two']);
  });

  it('hold to the level of the files and to that of the terminal', async () => {
    using test = givenLogs({ level: 'info', console: { stream: new PassThrough(), level: 'error' } });
    const log = test.logs.logger('party');
    for (const level of ['error', 'warn', 'info', 'debug'] as const) log[level](level);
    expect((await test.written()).entries.map(({ level }) => level)).to.deep.equal(['error', 'warn', 'info']);
  });

  it('show debug on the terminal alone when only it asks for it', async () => {
    using test = givenLogs({ level: 'warn' });
    const log = test.logs.logger('party');
    log.info('for the terminal');
    log.warn('for both');
    const { entries, terminal } = await test.written();
    expect(entries.map(({ message }) => message)).to.deep.equal(['for both']);
    expect(terminal.split('\n')).to.have.length(3);
  });

  it('keep audit entries apart from everything else', async () => {
    using test = givenLogs({ level: 'error' });
    test.logs.audit({ callId: 'c1', outcome: 'done', latencyMs: 12 });
    const { audit, entries } = await test.written();
    expect(audit).to.deep.equal([{ time: '2026-01-02T03:04:05.006Z', callId: 'c1', outcome: 'done', latencyMs: 12 }]);
    expect(entries).to.deep.equal([]);
  });

  it('are complete and in order when they are closed, however much was written', async () => {
    using test = givenLogs({ console: { stream: new PassThrough(), level: 'error' } });
    const log = test.logs.logger('party');
    for (let number = 0; number < 3_000; number += 1) log.debug(`entry ${number}`);
    const { entries } = await test.written();
    expect(entries.map(({ message }) => message)).to.deep.equal(
      Array.from({ length: 3_000 }, (_, number) => `entry ${number}`),
    );
  });

  it('may be closed twice, and before anything was written', async () => {
    using test = givenLogs();
    await test.logs.close();
    await test.logs.close();
    test.logs.logger('late').error('too late');
    expect(readdirSync(test.dir)).to.deep.equal([]);
  });

  it('do not stop the host when their folder cannot be written', async () => {
    using test = givenLogs();
    const dir = join(test.dir, 'a-file');
    writeFileSync(dir, '');
    using unwritable = givenLogs({ dir });
    const { logs, stream } = unwritable;
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
    using test = givenLogs();
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
