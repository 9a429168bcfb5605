import { createHash } from 'node:crypto';
import type { Interceptor, SettledOutcome } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, GUILD, holdingInterceptor, openToolHarness, recordingTool } from './harness.js';

const request = { name: 'add_party_character', arguments: { name: 'V' }, actor: alice, origin: 'chat' };

/** One tool and these interceptors, each of a different plugin. */
function withInterceptors(...interceptors: readonly Interceptor[]) {
  const shop = openToolHarness();
  const runs: unknown[] = [];
  shop.service.tool(shop.load('party'), recordingTool(runs));
  for (const interceptor of interceptors) shop.service.intercept(shop.load(interceptor.name), interceptor);
  return { ...shop, runs };
}
const named = (name: string, order: number, handle: Interceptor['handle']): Interceptor => ({ name, order, handle });

describe('interceptors', () => {
  it('wrap the call by order, the lowest outermost, and go with their plugin', async () => {
    const steps: string[] = [];
    const tracing = (name: string, order: number) =>
      named(name, order, async (_call, next) => {
        steps.push(`> ${name}`);
        const outcome = await next();
        steps.push(`< ${name}`);
        return outcome;
      });
    const { service, load } = withInterceptors(tracing('inner', 10), tracing('outer', -5));
    const temporary = load('temporary');
    service.intercept(temporary, tracing('temporary', 0));
    expect(temporary.scope.effects).to.deep.equal(['interceptor temporary']);
    await temporary.scope.close();
    await service.invoke(request);
    expect(steps).to.deep.equal(['> outer', '> inner', '< inner', '< outer']);
  });

  it('see the call as it will run: frozen arguments, their hash, and a card', async () => {
    const seen: unknown[] = [];
    const { service } = withInterceptors(
      named('watch', 0, (call, next) => {
        seen.push(
          Object.isFrozen(call.input),
          call.argumentsHash,
          call.card.fields.map(({ name }) => name),
        );
        return next();
      }),
    );
    await service.invoke({ ...request, arguments: { role: 'Solo', name: 'V' } });
    const canonical = '{"name":"V","role":"Solo"}';
    expect(seen[0]).to.equal(true);
    expect(seen[1]).to.equal(createHash('sha256').update(canonical).digest('hex'));
    expect(seen[2]).to.deep.equal(['name', 'role']);
  });

  it('are left out where their plugin is switched off', async () => {
    const { service, states, runs } = withInterceptors(
      named('strict', 0, async (call) => ({ status: 'denied', callId: call.id, reason: 'no' })),
    );
    expect(await service.invoke(request)).to.include({ status: 'denied', reason: 'no' });
    await states.update(GUILD, (draft) => ({ ...draft, plugins: { strict: false } }));
    expect(await service.invoke(request)).to.include({ status: 'done' });
    expect(runs).to.have.length(1);
  });

  it('fail closed when they throw', async () => {
    const { service, runs, log } = withInterceptors(
      named('broken', 0, () => {
        throw new Error('oops');
      }),
    );
    const outcome = await service.invoke(request);
    expect(outcome).to.have.nested.property('error.message').that.contains('"broken"');
    expect(runs).to.deep.equal([]);
    expect(log.entries.some(({ fields }) => fields.interceptor === 'broken')).to.equal(true);
  });

  it('cannot undo by throwing what has run', async () => {
    const { service, runs } = withInterceptors(
      named('late', 0, async (_call, next) => {
        await next();
        throw new Error('oops');
      }),
    );
    expect(await service.invoke(request)).to.deep.include({ status: 'done', output: { added: 'V' } });
    expect(runs).to.have.length(1);
  });

  it('cannot call a call done that did not run', async () => {
    const { service, runs } = withInterceptors(
      named('liar', 0, async (call) => ({ status: 'done', callId: call.id, output: 1, text: 'did it' })),
    );
    expect(await service.invoke(request)).to.include({ status: 'failed' });
    expect(runs).to.deep.equal([]);
  });

  it('cannot make a call that ran look as if it had not', async () => {
    const { service } = withInterceptors(
      named('liar', 0, async (call, next) => {
        await next();
        return { status: 'denied', callId: call.id, reason: 'never happened' };
      }),
    );
    expect(await service.invoke(request)).to.include({ status: 'done' });
  });

  it('may word an outcome differently', async () => {
    const { service } = withInterceptors(
      named('polite', 0, async (_call, next) => {
        const outcome: SettledOutcome = await next();
        return outcome.status === 'done' ? { ...outcome, text: `Gladly: ${outcome.text}` } : outcome;
      }),
    );
    expect(await service.invoke(request)).to.include({ text: 'Gladly: {"added":"V"}' });
  });

  it('call next as often as they like: it runs once', async () => {
    const { service, runs } = withInterceptors(
      named('eager', 0, async (_call, next) => {
        await Promise.all([next(), next()]);
        return next();
      }),
    );
    expect(await service.invoke(request)).to.include({ status: 'done' });
    expect(runs).to.have.length(1);
  });

  it('that start a call and then refuse it are told how it ended', async () => {
    const { service, runs } = withInterceptors(
      named('hasty', 0, async (call, next) => {
        void next();
        return { status: 'denied', callId: call.id, reason: 'changed my mind' };
      }),
    );
    const outcome = await service.invoke(request);
    expect(runs).to.have.length(outcome.status === 'done' ? 1 : 0);
    expect(await service.ledger.get(outcome.callId)).to.include({ state: outcome.status });
  });

  it('that hold and give up without a decision end the call', async () => {
    const { service, runs } = withInterceptors(
      named('impatient', 0, async (call, next) => {
        await call.hold();
        return next();
      }),
    );
    const outcome = await service.invoke(request);
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_STATE');
    expect(await service.ledger.get(outcome.callId)).to.include({ state: 'failed' });
    expect(runs).to.deep.equal([]);
  });

  it('around one that waits do not keep the conversation waiting', async () => {
    const held = holdingInterceptor();
    const order: string[] = [];
    const { service } = withInterceptors(
      { ...held.interceptor, order: 10 },
      named('budget', 0, async (_call, next) => {
        const outcome = await next();
        order.push(`budget saw ${outcome.status}`);
        return outcome;
      }),
    );
    const outcome = await service.invoke(request);
    order.push(outcome.status);
    await held.calls[0]?.approve(alice.userId);
    held.goOn();
    expect(outcome.status === 'deferred' && (await outcome.settled)).to.include({ status: 'done' });
    expect(order).to.deep.equal(['deferred', 'budget saw done']);
  });

  it('with a rejected deferred promise fail closed', async () => {
    const { service, runs } = withInterceptors(
      named('brittle', 0, async (call) => {
        await call.hold();
        return { status: 'deferred', callId: call.id, note: 'wait', settled: Promise.reject(new Error('lost')) };
      }),
    );
    const outcome = await service.invoke(request);
    expect(outcome.status === 'deferred' && (await outcome.settled)).to.include({ status: 'failed' });
    expect(runs).to.deep.equal([]);
  });

  it('count as work in flight, and so does the tool', async () => {
    const counts: number[] = [];
    const shop = openToolHarness();
    shop.service.tool(
      shop.load('party'),
      recordingTool([], {
        run: () => {
          counts.push(shop.inFlight.count('party'), shop.inFlight.count('watch'));
        },
      }),
    );
    shop.service.intercept(
      shop.load('watch'),
      named('watch', 0, (_call, next) => next()),
    );
    await shop.service.invoke(request);
    expect(counts).to.deep.equal([1, 1]);
    expect(shop.inFlight.count()).to.equal(0);
  });
});
