import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, GUILD, holdingInterceptor, openToolHarness, recordingTool } from './harness.js';

const request = { name: 'add_party_character', arguments: { name: 'V' }, actor: alice, origin: 'chat' };

describe('the policy of a guild for a tool', () => {
  it('deny is final: no interceptor is asked, nothing runs', async () => {
    const { service, policies, load } = openToolHarness();
    const runs: unknown[] = [];
    const held = holdingInterceptor();
    service.tool(load('party'), recordingTool(runs));
    service.intercept(load('confirm'), held.interceptor);
    await policies.set(GUILD, 'add_party_character', 'deny');
    expect(await service.invoke(request)).to.include({
      status: 'denied',
      reason: 'The tool add_party_character may not be used: the policy of this server forbids it',
    });
    expect([runs, held.calls]).to.deep.equal([[], []]);
  });

  it('deny set while a decision is waited for holds at execution', async () => {
    const { service, policies, load } = openToolHarness();
    const runs: unknown[] = [];
    const held = holdingInterceptor();
    service.tool(load('party'), recordingTool(runs));
    service.intercept(load('confirm'), held.interceptor);
    const outcome = await service.invoke(request);
    await policies.set(GUILD, 'add_party_character', 'deny');
    await held.calls[0]?.approve(alice.userId);
    held.goOn();
    expect(outcome.status === 'deferred' && (await outcome.settled)).to.include({ status: 'denied' });
    expect(runs).to.deep.equal([]);
  });

  it('confirm without anything that asks is refused', async () => {
    const { service, policies, load } = openToolHarness();
    const runs: unknown[] = [];
    service.tool(load('party'), recordingTool(runs));
    await policies.set(GUILD, 'add_party_character', 'confirm');
    expect(await service.invoke(request))
      .to.have.property('reason')
      .that.contains('it needs confirmation, and nothing here can ask for it');
    expect(runs).to.deep.equal([]);
  });

  it('confirm is not switched off by an argument, declared or not', async () => {
    const { service, policies, load } = openToolHarness();
    const runs: unknown[] = [];
    service.tool(load('party'), recordingTool(runs));
    service.tool(
      load('other'),
      recordingTool(runs, { name: 'wipe', input: z.object({ dry_run: z.boolean(), confirm: z.boolean() }) }),
    );
    for (const name of ['add_party_character', 'wipe']) await policies.set(GUILD, name, 'confirm');
    const flags = { dry_run: true, confirm: false, approved: true, policy: 'allow' };
    const outcomes = [
      await service.invoke({ ...request, arguments: { name: 'V', ...flags } }),
      await service.invoke({ ...request, name: 'wipe', arguments: flags }),
    ];
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['denied', 'denied']);
    expect(runs).to.deep.equal([]);
  });

  it('tells interceptors of allow and confirm', async () => {
    const { service, policies, load } = openToolHarness();
    const seen: unknown[] = [];
    service.tool(load('party'), recordingTool([]));
    service.intercept(load('watch'), {
      name: 'watch',
      order: 0,
      handle: (call, next) => {
        seen.push(call.policy);
        return next();
      },
    });
    await service.invoke(request);
    await policies.set(GUILD, 'add_party_character', 'allow');
    await service.invoke(request);
    expect(seen).to.deep.equal([undefined, 'allow']);
  });

  it('may name a tool that is not loaded, and survives it', async () => {
    const { policies } = openToolHarness();
    await policies.set(GUILD, 'not_loaded', 'deny');
    expect(await policies.get(GUILD, 'not_loaded')).to.equal('deny');
    expect(await policies.list(GUILD)).to.deep.equal({ not_loaded: 'deny' });
    await policies.clear(GUILD, 'not_loaded');
    expect(await policies.get(GUILD, 'not_loaded')).to.equal(undefined);
  });

  it('of a name that no tool can have is refused, and a name of Object.prototype has none', async () => {
    const { policies } = openToolHarness();
    const error = await policies.set(GUILD, 'rm -rf', 'deny').catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'CINNABAR_NAME_INVALID');
    expect(await policies.get(GUILD, 'toString')).to.equal(undefined);
  });
});
