import type { AccessRequest, Actor, Place, ToolDefinition } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, bob, GUILD, holdingInterceptor, openToolHarness, recordingTool } from './harness.js';

const THERE: Place = { guildId: '777', channelId: '778' };
const request = { name: 'add_party_character', arguments: { name: 'V' }, actor: alice, origin: 'chat' };

/** A harness with a tool that takes effect in `place`, and an access service that records its requests. */
function openWith(place: NonNullable<ToolDefinition['place']>) {
  const asked: { readonly actor: Actor; readonly at: Place | undefined }[] = [];
  const decide = async (actor: Actor, { at }: AccessRequest) => {
    asked.push({ actor, at });
    return { allowed: true, reasons: [] };
  };
  const shop = openToolHarness({ access: { decide, decideFresh: decide } });
  const runs: unknown[] = [];
  const held = holdingInterceptor();
  shop.service.tool(shop.load('party'), recordingTool(runs, { place }));
  shop.service.intercept(shop.load('confirm'), held.interceptor);
  return { ...shop, asked, runs, held };
}

describe('a tool that takes effect elsewhere', () => {
  it('is held by what is switched on there, though it is switched off where it is asked for', async () => {
    const { service, states, runs } = openWith(() => THERE);
    await states.update(GUILD, (draft) => ({ ...draft, plugins: { confirm: false } }));
    expect(await service.invoke(request)).to.include({ status: 'deferred' });
    expect(runs).to.deep.equal([]);
  });

  it('is held by what is switched on where it is asked for, though it is switched off there', async () => {
    const { service, states, runs } = openWith(() => THERE);
    await states.update('777', (draft) => ({ ...draft, plugins: { confirm: false } }));
    expect(await service.invoke(request)).to.include({ status: 'deferred' });
    expect(runs).to.deep.equal([]);
  });

  it('is not run when that has become another place since it was asked for', async () => {
    let place: Place = THERE;
    const { service, held, runs } = openWith(() => place);
    const outcome = await service.invoke(request);
    place = { ...THERE, channelId: '779' };
    await held.calls[0]?.approve(alice.userId);
    held.goOn();
    expect(outcome.status === 'deferred' && (await outcome.settled)).to.have.nested.property(
      'error.message',
      'The tool add_party_character failed: it has changed since it was asked for, so it was not run; please ask again',
    );
    expect(runs).to.deep.equal([]);
  });

  it('is recorded with that place, and with the member it acts for there', async () => {
    const there: Actor = { userId: '3', guildId: '777', channelId: '779', identity: 'relay:v' };
    const { service, audits, load } = openToolHarness({ access: { actorAt: async () => there } });
    service.tool(load('party'), recordingTool([], { place: () => THERE }));
    const { callId } = await service.invoke({ ...request, actor: { ...alice, identity: 'relay:v' } });
    expect(audits[0]).to.deep.include({ at: THERE, actor: there });
    expect(await service.ledger.get(callId)).to.deep.include({ actor: there });
  });

  it('is refused when it cannot say where', async () => {
    // A value that only a plugin in JavaScript can return.
    const nowhere: ReturnType<NonNullable<ToolDefinition['place']>> = JSON.parse('{}');
    const { service, asked, runs } = openWith(() => nowhere);
    expect(await service.invoke(request)).to.include({ status: 'failed' });
    expect([asked, runs]).to.deep.equal([[], []]);
  });
});

describe('the member who approves an agent’s request', () => {
  it('is asked for their own rights in that place, not for those of the agent', async () => {
    const { service, asked, held, runs } = openWith(() => ({ guildId: GUILD, channelId: '905' }));
    const outcome = await service.invoke({ ...request, actor: { ...alice, identity: 'relay:v' } });
    await held.calls[0]?.approve(bob.userId);
    held.goOn();
    expect(outcome.status === 'deferred' && (await outcome.settled)).to.include({ status: 'done' });
    expect(asked.slice(-2)).to.deep.equal([
      { actor: { ...alice, identity: 'relay:v' }, at: { guildId: GUILD, channelId: '905' } },
      { actor: bob, at: { guildId: GUILD, channelId: '905' } },
    ]);
    expect(runs).to.have.length(1);
  });
});
