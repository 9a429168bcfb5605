import { expect } from 'chai';
import { givenLogs } from './harness.js';

describe('the content of the log', () => {
  const token = ['MTA5ODc2NTQzMjEwOTg3NjU0Mw', 'GaBcDe', 'x'.repeat(38)].join('.');

  it('never holds a secret: not in messages, fields, names, errors, causes or audit entries', async () => {
    using test = givenLogs();
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

  it('cannot start a new line or move the reader’s cursor', async () => {
    using test = givenLogs();
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
    using test = givenLogs();
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

  it('names Discord objects by kind and id, so that the log contains no message text', async () => {
    class Message {
      constructor(
        readonly id: string,
        readonly content: string,
      ) {}
    }
    using test = givenLogs();
    test.logs.logger('party').info('got', { message: new Message('12', 'my diary'), plain: { id: '13' } });
    const { entries } = await test.written();
    expect(entries[0]).to.deep.include({ message_: 'Message(12)', plain: { id: '13' } });
  });
});
