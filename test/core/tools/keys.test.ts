import { createMemoryDriver } from '@cinnabar/core/testing';
import type { Actor } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { alice, bob, countingIds, holdingInterceptor, openToolHarness, recordingTool } from './harness.js';

const request = {
  name: 'add_party_character',
  arguments: { name: 'V' },
  actor: alice,
  origin: 'tasks',
  key: 'task-1:3:1',
};

/** Tool services that share documents and ids, as consecutive processes do. */
function openProcesses(more: Parameters<typeof recordingTool>[1] = {}) {
  const shared = { driver: createMemoryDriver(), ids: countingIds() };
  const runs: unknown[] = [];
  const open = () => {
    const shop = openToolHarness(shared);
    shop.service.tool(shop.load('party'), recordingTool(runs, more));
    return shop;
  };
  return { runs, open };
}

describe('a call with a key', () => {
  it('runs once, and a repeated request, also after a restart, gets its outcome', async () => {
    const { runs, open } = openProcesses({ present: { success: () => '✓ V is in' } });
    const { service } = open();
    const first = await service.invoke(request);
    expect(await service.invoke(request)).to.include({ status: 'done', callId: first.callId, text: '✓ V is in' });
    const next = open().service;
    await next.recover();
    expect(await next.invoke(request)).to.include({ status: 'done', callId: first.callId, output: '✓ V is in' });
    expect(runs).to.have.length(1);
  });

  it('is one call for all requests while it is running', async () => {
    const { runs, open } = openProcesses();
    const { service, load } = open();
    const held = holdingInterceptor();
    service.intercept(load('confirm'), held.interceptor);
    const [one, other] = await Promise.all([service.invoke(request), service.invoke(request)]);
    expect([one.status, other.callId]).to.deep.equal(['deferred', one.callId]);
    await held.calls[0]?.approve('1');
    held.goOn();
    if (one.status !== 'deferred' || other.status !== 'deferred') throw new Error('unreachable');
    expect(await other.settled).to.deep.equal(await one.settled);
    expect([runs.length, held.calls.length]).to.deep.equal([1, 1]);
  });

  it('is one call however its arguments are put', async () => {
    const { runs, open } = openProcesses();
    const { service } = open();
    const [one, other] = await Promise.all([
      service.invoke({ ...request, arguments: { name: 'V', role: 'Solo' } }),
      service.invoke({ ...request, arguments: '{"role":"Solo","name":"V"}' }),
    ]);
    expect(other).to.deep.equal(one);
    expect(runs).to.have.length(1);
  });

  it('tells its tool the key, the same at every attempt', async () => {
    const keys: string[] = [];
    const { open } = openProcesses({ run: (_, { key }) => void keys.push(key) });
    const { service } = open();
    await service.invoke(request);
    expect(keys).to.deep.equal([request.key]);
  });

  it('belongs to one tool, one person and one set of arguments', async () => {
    const { open, runs } = openProcesses();
    const { service } = open();
    await service.invoke(request);
    const agent = { ...alice, identity: 'relay:v' };
    const abroad = { ...alice, guildId: '777' };
    for (const change of [
      { actor: bob },
      { actor: agent },
      { actor: abroad },
      { arguments: { name: 'Johnny' } },
      { name: 'view_party' },
    ]) {
      const outcome = await service.invoke({ ...request, ...change });
      expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_KEY');
    }
    expect(runs).to.have.length(1);
  });

  it('that was refused before it was a call may be made once nothing stands against it', async () => {
    const { open } = openProcesses();
    const { service, shutOut } = open();
    shutOut.add(alice.userId);
    expect(await service.invoke(request)).to.include({ status: 'denied' });
    shutOut.clear();
    expect(await service.invoke(request)).to.include({ status: 'done' });
  });

  it('that was waiting at a restart has not run, and may be made again as the next attempt', async () => {
    const { open, runs } = openProcesses();
    const { service, load } = open();
    service.intercept(load('confirm'), holdingInterceptor().interceptor);
    await service.invoke(request);
    const next = open().service;
    await next.recover();
    expect(await next.invoke(request)).to.include({ status: 'expired' });
    expect(await next.invoke({ ...request, attempt: 2 })).to.include({ status: 'done' });
    expect(await next.invoke({ ...request, attempt: 3 })).to.have.nested.property('error.code', 'CINNABAR_TOOL_KEY');
    expect(runs).to.have.length(1);
  });

  for (const idempotent of [true, false]) {
    it(`cut off in the middle is unknown, and ${idempotent ? 'may' : 'may not'} be repeated when it is ${idempotent ? '' : 'not '}idempotent`, async () => {
      let begin: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      let repeated = 0;
      const { open } = openProcesses({
        idempotent,
        run: () => {
          begin();
          repeated += 1;
          return repeated === 1 ? new Promise(() => undefined) : 'again';
        },
      });
      void open().service.invoke(request);
      await begun;
      const next = open().service;
      await next.recover();
      const unknown = await next.invoke(request);
      expect(unknown).to.have.nested.property('error.code', 'CINNABAR_TOOL_UNKNOWN_OUTCOME');
      const again = await next.invoke({ ...request, attempt: 2 });
      expect(again.status).to.equal(idempotent ? 'done' : 'failed');
      expect(repeated).to.equal(idempotent ? 2 : 1);
    });
  }

  it('has no second attempt without a first', async () => {
    const { open, runs } = openProcesses();
    const outcome = await open().service.invoke({ ...request, attempt: 2 });
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_KEY');
    expect(runs).to.deep.equal([]);
  });

  it('counts its attempts from 1', async () => {
    const { open, runs } = openProcesses();
    const { service } = open();
    for (const attempt of [0, -1, 1.5, Number.NaN]) {
      expect(await service.invoke({ ...request, attempt })).to.have.nested.property('error.code', 'CINNABAR_TOOL_KEY');
    }
    expect(runs).to.deep.equal([]);
  });

  it('runs at most once for whatever sequence of requests and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('ask', 'restart', 'attempt'), { maxLength: 12 }), async (steps) => {
        const { open, runs } = openProcesses();
        let { service } = open();
        let attempt = 1;
        for (const step of steps) {
          if (step === 'attempt') attempt += 1;
          if (step === 'restart') {
            service = open().service;
            await service.recover();
          }
          await service.invoke({ ...request, attempt });
        }
        expect(runs.length).to.be.at.most(1);
      }),
      { numRuns: 50 },
    );
  });
});

describe('an internal tool', () => {
  it('does not exist for models, only for its own plugin', async () => {
    const shop = openToolHarness();
    const runs: unknown[] = [];
    shop.service.tool(shop.load('party'), recordingTool(runs, { internal: true }));
    expect(await shop.service.offered(alice)).to.deep.equal([]);
    const outcome = await shop.service.invoke({ ...request, origin: 'chat' });
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_UNKNOWN');
    expect(await shop.service.invoke({ ...request, origin: 'party', key: 'other' })).to.include({ status: 'done' });
  });
});

describe('a tool that is not worth offering everywhere', () => {
  it('is not offered there, and runs when it is asked for all the same', async () => {
    const shop = openToolHarness();
    const offered = ({ userId }: Actor) => userId === bob.userId;
    shop.service.tool(shop.load('party'), recordingTool([], { offered }));
    expect(await shop.service.offered(alice)).to.deep.equal([]);
    expect(await shop.service.offered(bob)).to.have.length(1);
    expect(await shop.service.offered({ ...alice, identity: 'relay:v' })).to.have.length(1);
    expect(await shop.service.invoke(request)).to.include({ status: 'done' });
  });
});

describe("a tool's own policy", () => {
  it('holds where the guild has none', async () => {
    const shop = openToolHarness();
    const held = holdingInterceptor();
    shop.service.tool(shop.load('party'), recordingTool([], { policy: 'confirm' }));
    shop.service.intercept(shop.load('confirm'), held.interceptor);
    await shop.service.invoke({ ...request, key: 'a' });
    await shop.policies.set(alice.guildId ?? '', request.name, 'allow');
    await shop.service.invoke({ ...request, key: 'b' });
    expect(held.calls.map(({ policy }) => policy)).to.deep.equal(['confirm', 'allow']);
  });
});
