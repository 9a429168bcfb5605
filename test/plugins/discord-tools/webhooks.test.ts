import { Ledger } from '@cinnabar/sdk';
import { expect } from 'chai';
import { writtenIn } from '../../support/data.js';
import { type Harness, openToolsHarness } from './harness.js';
import { firstId } from './things.js';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('discord-tools: webhooks', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness();
  });
  after(() => harness[Symbol.asyncDispose]());

  const create = async (input: object = {}) =>
    firstId(
      await harness.done(harness.mod, 'discord_create_webhook', {
        channelId: harness.general.id,
        name: 'Radio',
        ...input,
      }),
    );
  const hookOf = (id: string) => harness.host.discord.webhooks.get(id);

  it('never shows a token, neither to the model nor in log or ledger', async () => {
    const { mod, general, host } = harness;
    const made = await harness.call(mod, 'discord_create_webhook', { channelId: general.id, name: 'Radio' });
    const id = firstId(made.text);
    const listed = await harness.call(mod, 'discord_list_webhooks', { channelId: general.id });
    const edited = await harness.call(mod, 'discord_edit_webhook', { webhookId: id, name: 'Radio 2' });
    await harness.done(mod, 'discord_send_webhook_message', { webhookId: id, content: 'on air' });
    const token = hookOf(id)?.token;
    if (token === undefined) throw new Error('there is no webhook');
    const shown = JSON.stringify([made, listed, edited, await host.resolve(Ledger).recent({ limit: 20 })]);
    expect(shown).to.contain(id).and.not.contain(token);
    expect(await writtenIn(host.dataDir))
      .to.contain(id)
      .and.not.contain(token);
  });

  it('speaks under its name or another, split and with ids', async () => {
    const { mod, general } = harness;
    const webhookId = await create();
    const said = await harness.done(mod, 'discord_send_webhook_message', { webhookId, content: 'word '.repeat(700) });
    const parts = general.messages.slice(-2);
    for (const { id, author } of parts) {
      expect(said).to.contain(id);
      expect(author.name).to.equal('Radio');
    }
    const avatarURL = 'https://cdn.example.com/face.png';
    await harness.done(mod, 'discord_send_webhook_message', {
      webhookId,
      content: 'hi',
      username: 'Johnny',
      avatarURL,
    });
    expect(general.messages.at(-1)?.author).to.include({ name: 'Johnny', avatar: avatarURL });
  });

  it('tells which messages were sent when it breaks off', async () => {
    const { mod, general, host } = harness;
    const webhookId = await create();
    const sending = { method: 'POST', route: '/webhooks/:webhookId/:token' };
    // The fault `hold` takes the first request, and is released at once; the second request fails.
    const release = host.discord.faults.rest.hold(sending);
    host.discord.faults.rest.fail(403, { ...sending, body: { message: 'Missing Permissions', code: 50013 } });
    release();
    const input = { webhookId, content: 'word '.repeat(900) };
    const said = await harness.refused(mod, 'discord_send_webhook_message', input);
    expect(said)
      .to.match(/^Only 1 of 3 messages were sent/)
      .and.contain(general.messages.at(-1)?.id);
  });

  it('speaks in a thread of its channel', async () => {
    const { mod, alice, general } = harness;
    const webhookId = await create();
    const thread = alice.startThread(general, 'studio', { content: 'hi' });
    await harness.host.settled();
    await harness.done(mod, 'discord_send_webhook_message', { webhookId, content: 'in here', threadId: thread.id });
    expect(thread.messages.at(-1)?.content).to.equal('in here');
  });

  it('needs no token, and refuses a wrong one', async () => {
    const { mod } = harness;
    const webhookId = await create();
    const wrong = { webhookId, webhookToken: 'x'.repeat(68) };
    for (const [tool, input] of [
      ['discord_send_webhook_message', { ...wrong, content: 'hi' }],
      ['discord_edit_webhook', { ...wrong, name: 'Pirate' }],
      ['discord_delete_webhook', wrong],
    ] as const) {
      expect(await harness.refused(mod, tool, input), tool).to.equal('The webhook token is not right.');
    }
    const right = { webhookId, webhookToken: hookOf(webhookId)?.token, content: 'hi' };
    await harness.done(mod, 'discord_send_webhook_message', right);
    await harness.done(mod, 'discord_delete_webhook', { webhookId });
    expect(hookOf(webhookId)).to.equal(undefined);
  });

  it('moves to another channel only where the requester manages webhooks, too', async () => {
    const { mod, modRole, guild } = harness;
    const webhookId = await create();
    const [open, closed] = [guild.createChannel({ name: 'open' }), guild.createChannel({ name: 'closed' })];
    guild.overwrite(closed, { for: modRole, deny: ['ManageWebhooks'] });
    await harness.host.settled();
    await harness.refused(mod, 'discord_edit_webhook', { webhookId, channelId: closed.id });
    await harness.done(mod, 'discord_edit_webhook', { webhookId, channelId: open.id });
    expect(hookOf(webhookId)?.channel).to.equal(open);
  });

  describe('its picture', () => {
    it('may be a data URI', async () => {
      expect(hookOf(await create({ avatar: PIXEL }))?.avatar).to.be.a('string');
    });

    for (const avatar of [
      'http://example.com/a.png',
      'file:///etc/passwd',
      '/etc/passwd',
      'https://127.0.0.1/a.png',
      'https://10.1.2.3/a.png',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/a.png',
      'https://[::ffff:10.0.0.1]/a.png',
      'https://[fd00::1]/a.png',
      'https://2130706433/a.png',
      'https://localhost/a.png',
      'https://user:secret@example.com/a.png',
      'data:text/html;base64,PGI+',
    ]) {
      it(`is never fetched from ${avatar.slice(0, 40)}`, async () => {
        const { mod, general } = harness;
        const said = await harness.refused(mod, 'discord_create_webhook', {
          channelId: general.id,
          name: 'Spy',
          avatar,
        });
        expect(said).to.match(/avatar|image/);
      });
    }
  });
});
