import type { AccessRequest, Actor, IdentityGrant, Place } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openHarness } from './harness.js';

const reading = (at?: Place): AccessRequest => {
  const subject = { kind: 'tool', name: 'read', plugin: 'tools', policy: { member: ['ReadMessageHistory'] } } as const;
  return at === undefined ? subject : { ...subject, at };
};

type Harness = Awaited<ReturnType<typeof openHarness>>;

/** A channel for everyone, one that alice cannot see, and one in another guild of hers. */
async function openTwoHarnesses(options: Parameters<typeof openHarness>[0] = {}) {
  const harness = await openHarness(options);
  const { guild, alice, application, discord } = harness;
  const market = guild.createChannel({ name: 'market' });
  const cellar = guild.createChannel({ name: 'cellar', overwrites: [{ for: alice, deny: ['ViewChannel'] }] });
  const other = discord.createGuild({ name: 'Elsewhere', owner: alice });
  other.invite(application);
  const far = other.createChannel({ name: 'far' });
  await discord.settled();
  const at = (channel: { readonly id: string }, guildId: string | null = guild.id) => ({
    guildId,
    channelId: channel.id,
  });
  const ask = async (actor: Actor, place?: Place) => {
    const { allowed, reasons } = await harness.access.decide(actor, reading(place));
    return allowed ? 'allowed' : reasons.filter((one) => !one.allowed).map(({ rule }) => rule)[0];
  };
  return { ...harness, market, cellar, other, far, at, ask };
}

describe('a request that takes effect in another place', () => {
  it('is decided by the permissions in that place, and by its visibility', async () => {
    await using harness = await openTwoHarnesses();
    const { actor, alice, guild, market, cellar, at, ask, discord } = harness;
    expect(await ask(actor(alice), at(market))).to.equal('allowed');
    expect(await ask(actor(alice), at(cellar))).to.equal('reach');
    guild.overwrite(market, { for: alice, deny: ['ReadMessageHistory'] });
    await discord.settled();
    expect(await ask(actor(alice), at(market))).to.equal('member-permissions');
    expect(await ask(actor(alice), { guildId: guild.id })).to.equal('allowed');
  });

  it('stays in its guild, gets the same answer for hidden, remote and missing objects, and reaches the member’s guilds from a direct message', async () => {
    await using harness = await openTwoHarnesses();
    const { access, actor, alice, bob, application, cellar, other, far, at, ask } = harness;
    const why = async (place: Place) => (await access.decide(actor(alice), reading(place))).reasons;
    const hidden = await why(at(cellar));
    expect(await why(at(far, other.id))).to.deep.equal(hidden);
    expect(await why(at({ id: '1' }))).to.deep.equal(hidden);
    expect(await why(at(alice.openDm(application), null))).to.deep.equal(hidden);
    const directly = (who: typeof alice): Actor => ({
      userId: who.id,
      guildId: null,
      channelId: who.openDm(application).id,
    });
    expect(await ask(directly(alice), at(far, other.id))).to.equal('allowed');
    expect(await ask(directly(bob), at(far, other.id))).to.equal('reach');
    expect(await ask(directly(alice), at(bob.openDm(application), null))).to.equal('reach');
  });

  it('allows a private thread only to its members and to moderators of threads', async () => {
    await using harness = await openTwoHarnesses();
    const { actor, you, alice, bob, general, at, ask, discord } = harness;
    const thread = bob.startThread(general, 'secret', { private: true });
    await discord.settled();
    expect(await ask(actor(bob), at(thread))).to.equal('allowed');
    expect(await ask(actor(you), at(thread))).to.equal('allowed');
    expect(await ask(actor(alice), at(thread))).to.equal('reach');
  });

  it('refuses a private thread to a removed member, also when Discord sends no event about it, and to no current member', async () => {
    await using harness = await openTwoHarnesses({ intents: ['Guilds', 'GuildMessages'] });
    const { access, actor, bob, general, at, ask, client, discord } = harness;
    const thread = bob.startThread(general, 'secret', { private: true });
    await discord.settled();
    expect(await ask(actor(bob), at(thread))).to.equal('allowed');
    const known = await client.channels.fetch(thread.id);
    if (known?.isThread() !== true) throw new Error('unreachable');
    await known.members.remove(bob.id);
    await discord.settled();
    expect((await access.decideFresh(actor(bob), reading(at(thread)))).allowed).to.equal(false);
    expect((await access.decideFresh(actor(bob, thread.id), reading())).allowed).to.equal(false);
  });

  it('allows the messages of a voice channel only to members who may join it', async () => {
    await using harness = await openTwoHarnesses();
    const { actor, alice, bob, guild, at, ask, discord } = harness;
    const lounge = guild.createChannel({
      name: 'lounge',
      type: 'voice',
      overwrites: [{ for: alice, deny: ['Connect'] }],
    });
    await discord.settled();
    expect(await ask(actor(bob), at(lounge))).to.equal('allowed');
    expect(await ask(actor(alice), at(lounge))).to.equal('reach');
  });
});

describe('an agent with an identity', () => {
  const grantTo = (harness: Harness, more: Partial<IdentityGrant> = {}): Actor => {
    const { identities, guild, you, general } = harness;
    const home = { guildId: guild.id, userId: you.id, channelId: general.id };
    const grants = [{ ...home, channels: [general.id], tools: { read: 'allow' }, ...more }] as const;
    identities.set('relay:v', { id: 'relay:v', plugin: 'relay', name: 'V', grants });
    return { ...home, identity: 'relay:v' };
  };

  it('reaches only the granted channels, with their threads, and the granted tools', async () => {
    await using harness = await openTwoHarnesses();
    const { access, guild, general, market, you, at, ask, discord } = harness;
    const agent = grantTo(harness);
    const thread = you.startThread(general, 'aside');
    await discord.settled();
    expect(await ask(agent, at(general))).to.equal('allowed');
    expect(await ask(agent, at(thread))).to.equal('allowed');
    for (const place of [at(market), { guildId: guild.id }, at({ id: '1' })]) {
      expect(await ask(agent, place)).to.equal('reach');
    }
    const sending = { ...reading(at(general)), name: 'send' };
    expect((await access.decide(agent, sending)).reasons[0]?.rule).to.equal('identity');
    expect((await access.decide(agent, { ...reading(), kind: 'command' })).allowed).to.equal(false);
    expect(await access.tierOf(agent)).to.equal('everyone');
  });

  it('never exceeds the rights of the admin who added it', async () => {
    await using harness = await openTwoHarnesses();
    const { alice, cellar, market, at, ask } = harness;
    const agent = grantTo(harness, { userId: alice.id, channels: 'all' });
    const asAlice = { ...agent, userId: alice.id };
    expect(await ask(asAlice, at(market))).to.equal('allowed');
    expect(await ask(asAlice, at(cellar))).to.equal('reach');
    expect(await ask(agent, at(market))).to.equal('identity');
  });

  it('loses its access at once with the grant, and has none without a grant', async () => {
    await using harness = await openTwoHarnesses();
    const { access, other, far, general, at, ask, identities } = harness;
    const agent = grantTo(harness);
    expect(await ask(agent, at(far, other.id))).to.equal('reach');
    expect(await access.modeOf(agent, 'read')).to.equal('allow');
    identities.clear();
    expect(await ask(agent, at(general))).to.equal('reach');
    expect(await ask(agent)).to.equal('identity');
    expect(await access.modeOf(agent, 'read')).to.equal(undefined);
  });

  it('acts in another guild for the admin who added it there', async () => {
    await using harness = await openTwoHarnesses();
    const { access, alice, other, far, guild, general, you, at, ask, identities } = harness;
    const agent = grantTo(harness);
    const there = {
      guildId: other.id,
      userId: alice.id,
      channelId: far.id,
      channels: 'all',
      tools: { read: 'confirm' },
    } as const;
    const grants = [...(identities.get('relay:v')?.grants ?? []), there];
    identities.set('relay:v', { id: 'relay:v', plugin: 'relay', name: 'V', grants });
    expect(await ask(agent, at(far, other.id))).to.equal('allowed');
    const moved = await access.actorAt(agent, at(far, other.id));
    expect(moved).to.deep.equal({ userId: alice.id, guildId: other.id, channelId: far.id, identity: 'relay:v' });
    expect(await access.actorAt(agent, at(general))).to.equal(agent);
    expect(await access.modeOf(moved, 'read')).to.equal('confirm');
    expect(await ask({ userId: you.id, guildId: guild.id, channelId: general.id }, at(far, other.id))).to.equal(
      'reach',
    );
  });
});
