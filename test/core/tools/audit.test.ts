import { expect } from 'chai';
import { alice, GUILD, holdingInterceptor, openToolHarness, recordingTool } from './harness.js';

const request = { name: 'add_party_character', arguments: { name: 'V' }, actor: alice, origin: 'chat' };

describe('the audit', () => {
  it('gets one record per call: who, what, where, why allowed, who decided, how it ended, how long it took', async () => {
    const { service, load, audits, clock, policies } = openToolHarness();
    const held = holdingInterceptor();
    service.tool(load('party'), recordingTool([], { run: () => clock.advance(20) }));
    service.intercept(load('confirm'), held.interceptor);
    await policies.set(GUILD, 'add_party_character', 'confirm');
    const startedAt = clock.now();
    const outcome = await service.invoke(request);
    expect(audits).to.deep.equal([]);
    clock.advance(1_000);
    await held.calls[0]?.approve('1');
    held.goOn();
    if (outcome.status === 'deferred') await outcome.settled;
    expect(audits).to.deep.equal([
      {
        callId: outcome.callId,
        tool: 'add_party_character',
        plugin: 'party',
        origin: 'chat',
        actor: alice,
        input: '{"name":"V"}',
        argumentsHash: held.calls[0]?.argumentsHash,
        policy: 'confirm',
        access: [{ rule: 'actor', allowed: true, text: 'everyone may use this' }],
        heldBy: 'confirm',
        decidedBy: '1',
        outcome: 'done',
        startedAt,
        latencyMs: 1_020,
        ranMs: 20,
      },
    ]);
  });

  it('has refusals too, with the reason, also of tools that do not exist', async () => {
    const { service, load, audits, shutOut } = openToolHarness();
    service.tool(load('party'), recordingTool([]));
    shutOut.add(alice.userId);
    await service.invoke(request);
    await service.invoke({ ...request, name: 'launch_missiles' });
    expect(audits.map(({ outcome, code }) => [outcome, code])).to.deep.equal([
      ['denied', undefined],
      ['failed', 'CINNABAR_TOOL_UNKNOWN'],
    ]);
    expect(audits[0]?.access?.[0]).to.include({ allowed: false, text: 'you are no longer in this server' });
  });

  it('holds no secret and no endless argument', async () => {
    const { service, load, audits } = openToolHarness();
    service.tool(load('party'), recordingTool([]));
    await service.invoke({ ...request, arguments: { name: `hunter2${'x'.repeat(10_000)}` } });
    await service.invoke({ ...request, arguments: 'hunter2, not JSON' });
    const kept = JSON.stringify(audits);
    expect(kept).to.contain('[secret]');
    expect(kept).not.to.contain('hunter2');
    expect(audits[0]?.input.length).to.be.below(2_100);
  });

  it('that breaks does not break the call', async () => {
    const { service, load, audits } = openToolHarness();
    service.tool(load('party'), recordingTool([]));
    Object.freeze(audits);
    expect(await service.invoke(request)).to.include({ status: 'done' });
  });
});
