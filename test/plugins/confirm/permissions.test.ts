import type { PermissionName } from '@cinnabar/local-discord';
import { Ledger } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Desk, inTime, labelsOf, openDesk, settledOf, toldTo } from './desk.js';

const deny = ({ host }: Desk, ...permissions: PermissionName[]) =>
  host.guild.overwrite(host.general, { for: host.bot, deny: permissions });

describe('confirmation without a permission', () => {
  for (const [permission, name] of [
    ['AddReactions', 'Add Reactions'],
    ['ReadMessageHistory', 'Read Message History'],
  ] as const) {
    it(`asks with buttons without ${name}, and says so`, async () => {
      await using desk = await openDesk();
      const { alice, settled } = desk.host;
      deny(desk, permission);
      await desk.call(alice, { what: 'milk' });
      const card = desk.latest();
      expect(card.content).to.include(`I am missing the permission ${name}. Please use the buttons.`);
      expect(card.reactions).to.deep.equal([]);
      alice.click(card, 'Confirm');
      await settled();
      expect(desk.runs).to.deep.equal([{ what: 'milk' }]);
      expect(desk.latest().content).to.equal(toldTo(alice, '✓ Did milk.'));
      expect(card.components.map(labelsOf)).to.deep.equal([['Confirmation']]);
    });
  }

  it('asks with buttons when Discord refuses the reaction after all', async () => {
    await using desk = await openDesk();
    const { alice, discord, settled } = desk.host;
    const body = { message: 'Reaction was blocked', code: 90001 };
    discord.faults.rest.fail(403, { method: 'PUT', route: /\/reactions\//, body });
    await desk.call(alice, { what: 'milk' });
    expect(desk.latest().content).to.include('Discord does not let me add reactions here. Please use the buttons.');
    alice.click(desk.latest(), 'Cancel');
    await settled();
    expect(desk.runs).to.deep.equal([]);
    expect(desk.latest().content).to.equal(toldTo(alice, 'Cancelled milk.'));
  });

  it('still shows what became of a card when the reactions to it fail only after that', async () => {
    await using desk = await openDesk();
    const { alice, advance, discord, general, settled } = desk.host;
    await desk.configure('controls', 'both');
    discord.faults.rest.fail(503, { method: 'PUT', route: /\/reactions\//, times: Number.POSITIVE_INFINITY });
    discord.faults.rest.fail(503, { method: 'PATCH', times: Number.POSITIVE_INFINITY });
    const called = desk.call(alice, { what: 'milk' });
    const card = await discord.expectMessage({ content: /^📋/ });
    alice.click(card, 'Confirm');
    await discord.expectMessage({ content: /^✓ Did milk/ });
    await inTime(desk.host, called);
    discord.faults.rest.clear();
    await advance(60_000);
    await settled();
    expect(general.messages.find(({ id }) => id === card.id)?.components.map(labelsOf)).to.deep.equal([
      ['Confirmation'],
    ]);
  });

  it('strikes such a card through as it stands, without its buttons', async () => {
    await using desk = await openDesk();
    const { alice, advance, settled } = desk.host;
    deny(desk, 'AddReactions');
    await desk.call(alice, { what: 'milk' });
    await advance(61_000);
    alice.click(desk.latest(), 'Confirm');
    await settled();
    expect(desk.runs).to.deep.equal([]);
    expect(desk.latest().content)
      .to.match(/\n~~⚠️ I cannot add reactions .*~~\n/)
      .and.to.match(/Request timed out$/);
    expect(desk.latest().components).to.deep.equal([]);
  });

  for (const [permission, name] of [
    ['SendMessages', 'Send Messages'],
    ['ViewChannel', 'View Channel'],
  ] as const) {
    it(`refuses the call without ${name}, and names the permission`, async () => {
      await using desk = await openDesk();
      deny(desk, permission);
      const outcome = await desk.call(desk.host.alice, { what: 'milk' });
      expect(outcome).to.have.property('status', 'denied');
      expect(outcome).to.have.property('reason').that.includes(`missing the permission ${name}. Nothing was run.`);
      expect(desk.runs).to.deep.equal([]);
    });
  }

  it('refuses a call that it could not show in full without Attach Files', async () => {
    await using desk = await openDesk();
    deny(desk, 'AttachFiles');
    const outcome = await desk.call(desk.host.alice, { what: 'long '.repeat(600) });
    expect(outcome).to.have.property('status', 'denied');
    expect(outcome).to.have.property('reason').that.includes('missing the permission Attach Files');
    expect(desk.said()).to.deep.equal([]);
  });

  it('does not run what it could not ask about', async () => {
    await using desk = await openDesk();
    const body = { message: 'Cannot send messages in this channel', code: 50008 };
    desk.host.discord.faults.rest.fail(403, { method: 'POST', route: '/channels/:channelId/messages', body });
    const outcome = await desk.call(desk.host.alice, { what: 'milk' });
    expect(outcome).to.include({ status: 'expired' });
    expect(outcome).to.have.property('reason').that.includes('could not be posted');
    expect(await desk.host.resolve(Ledger).get(outcome.callId)).to.have.property('state', 'expired');
    expect(desk.runs).to.deep.equal([]);
  });
});

describe('confirmation by button', () => {
  it('follows the same rules: only the requester, only the first decision, everybody gets an answer', async () => {
    await using desk = await openDesk();
    const { alice, bob, settled } = desk.host;
    await desk.configure('controls', 'buttons');
    const outcome = await desk.call(alice, { what: 'milk' });
    const card = desk.latest();
    expect(card.reactions).to.deep.equal([]);
    const clicks = [bob.click(card, 'Confirm'), alice.click(card, 'Cancel'), alice.click(card, 'Confirm')];
    await settled();
    expect(clicks.map(({ messages }) => messages.map(({ content, ephemeral }) => [content, ephemeral]))).to.deep.equal([
      [['Only the member who asked for this can decide it.', true]],
      [],
      [],
    ]);
    expect(clicks.every(({ acknowledged }) => acknowledged)).to.equal(true);
    expect(desk.runs).to.deep.equal([]);
    expect(await settledOf(outcome)).to.have.property('status', 'denied');
  });

  it('can be offered beside reactions; a decision by one takes the other away', async () => {
    await using desk = await openDesk();
    const { alice, settled } = desk.host;
    await desk.configure('controls', 'both');
    await desk.call(alice, { what: 'milk' });
    const card = desk.latest();
    expect(card.reactions).to.have.length(2);
    expect(card.components).to.have.length(1);
    alice.react(card, '👍');
    await settled();
    expect(desk.runs).to.have.length(1);
    expect(card.components.map(labelsOf)).to.deep.equal([['Confirmation']]);
  });
});
