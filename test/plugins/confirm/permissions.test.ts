import type { PermissionName } from '@cinnabar/local-discord';
import { Ledger } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Harness, inTime, labelsOf, settledOf, shareHarness, toldTo } from './harness.js';

const deny = ({ host }: Harness, ...permissions: PermissionName[]) =>
  host.guild.overwrite(host.general, { for: host.bot, deny: permissions });

describe('confirmation without a permission', () => {
  const open = shareHarness();
  for (const [permission, name] of [
    ['AddReactions', 'Add Reactions'],
    ['ReadMessageHistory', 'Read Message History'],
  ] as const) {
    it(`asks with buttons without ${name}, and says so`, async () => {
      await using harness = await open();
      const { alice, settled } = harness.host;
      deny(harness, permission);
      await harness.call(alice, { what: 'milk' });
      const card = harness.latest();
      expect(card.content).to.include(`I am missing the permission ${name}. Please use the buttons.`);
      expect(card.reactions).to.deep.equal([]);
      alice.click(card, 'Confirm');
      await settled();
      expect(harness.runs).to.deep.equal([{ what: 'milk' }]);
      expect(harness.latest().content).to.equal(toldTo(alice, '✓ Did milk.'));
      expect(card.components.map(labelsOf)).to.deep.equal([['Confirmation']]);
    });
  }

  it('asks with buttons when Discord refuses the reaction after all', async () => {
    await using harness = await open();
    const { alice, discord, settled } = harness.host;
    const body = { message: 'Reaction was blocked', code: 90001 };
    discord.faults.rest.fail(403, { method: 'PUT', route: /\/reactions\//, body });
    await harness.call(alice, { what: 'milk' });
    expect(harness.latest().content).to.include('Discord does not let me add reactions here. Please use the buttons.');
    alice.click(harness.latest(), 'Cancel');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    expect(harness.latest().content).to.equal(toldTo(alice, 'Cancelled milk.'));
  });

  it('still shows what became of a card when the reactions to it fail only after that', async () => {
    await using harness = await open();
    const { alice, advance, discord, general, settled } = harness.host;
    await harness.configure('controls', 'both');
    discord.faults.rest.fail(503, { method: 'PUT', route: /\/reactions\//, times: Number.POSITIVE_INFINITY });
    discord.faults.rest.fail(503, { method: 'PATCH', times: Number.POSITIVE_INFINITY });
    const called = harness.call(alice, { what: 'milk' });
    const card = await discord.expectMessage({ content: /^📋/ });
    alice.click(card, 'Confirm');
    await discord.expectMessage({ content: /^✓ Did milk/ });
    await inTime(harness.host, called);
    discord.faults.rest.clear();
    await advance(60_000);
    await settled();
    expect(general.messages.find(({ id }) => id === card.id)?.components.map(labelsOf)).to.deep.equal([
      ['Confirmation'],
    ]);
  });

  it('strikes such a card through as it stands, without its buttons', async () => {
    await using harness = await open();
    const { alice, advance, settled } = harness.host;
    deny(harness, 'AddReactions');
    await harness.call(alice, { what: 'milk' });
    await advance(61_000);
    alice.click(harness.latest(), 'Confirm');
    await settled();
    expect(harness.runs).to.deep.equal([]);
    expect(harness.latest().content)
      .to.match(/\n~~⚠️ I cannot add reactions .*~~\n/)
      .and.to.match(/Request timed out$/);
    expect(harness.latest().components).to.deep.equal([]);
  });

  for (const [permission, name] of [
    ['SendMessages', 'Send Messages'],
    ['ViewChannel', 'View Channel'],
  ] as const) {
    it(`refuses the call without ${name}, and names the permission`, async () => {
      await using harness = await open();
      deny(harness, permission);
      const outcome = await harness.call(harness.host.alice, { what: 'milk' });
      expect(outcome).to.have.property('status', 'denied');
      expect(outcome).to.have.property('reason').that.includes(`missing the permission ${name}. Nothing was run.`);
      expect(harness.runs).to.deep.equal([]);
    });
  }

  it('refuses a call that it could not show in full without Attach Files', async () => {
    await using harness = await open();
    deny(harness, 'AttachFiles');
    const outcome = await harness.call(harness.host.alice, { what: 'long '.repeat(600) });
    expect(outcome).to.have.property('status', 'denied');
    expect(outcome).to.have.property('reason').that.includes('missing the permission Attach Files');
    expect(harness.said()).to.deep.equal([]);
  });

  it('does not run what it could not ask about', async () => {
    await using harness = await open();
    const body = { message: 'Cannot send messages in this channel', code: 50008 };
    harness.host.discord.faults.rest.fail(403, { method: 'POST', route: '/channels/:channelId/messages', body });
    const outcome = await harness.call(harness.host.alice, { what: 'milk' });
    expect(outcome).to.include({ status: 'expired' });
    expect(outcome).to.have.property('reason').that.includes('could not be posted');
    expect(await harness.host.resolve(Ledger).get(outcome.callId)).to.have.property('state', 'expired');
    expect(harness.runs).to.deep.equal([]);
  });
});

describe('confirmation by button', () => {
  const open = shareHarness();
  it('follows the same rules: only the requester, only the first decision, everyone gets an answer', async () => {
    await using harness = await open();
    const { alice, bob, settled } = harness.host;
    await harness.configure('controls', 'buttons');
    const outcome = await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    expect(card.reactions).to.deep.equal([]);
    const clicks = [bob.click(card, 'Confirm'), alice.click(card, 'Cancel'), alice.click(card, 'Confirm')];
    await settled();
    expect(clicks.map(({ messages }) => messages.map(({ content, ephemeral }) => [content, ephemeral]))).to.deep.equal([
      [['Only the member who asked for this can decide it.', true]],
      [],
      [],
    ]);
    expect(clicks.every(({ acknowledged }) => acknowledged)).to.equal(true);
    expect(harness.runs).to.deep.equal([]);
    expect(await settledOf(outcome)).to.have.property('status', 'denied');
  });

  it('can be offered beside reactions; a decision by one takes the other away', async () => {
    await using harness = await open();
    const { alice, settled } = harness.host;
    await harness.configure('controls', 'both');
    await harness.call(alice, { what: 'milk' });
    const card = harness.latest();
    expect(card.reactions).to.have.length(2);
    expect(card.components).to.have.length(1);
    alice.react(card, '👍');
    await settled();
    expect(harness.runs).to.have.length(1);
    expect(card.components.map(labelsOf)).to.deep.equal([['Confirmation']]);
  });
});
