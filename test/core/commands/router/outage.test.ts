import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalInteraction } from '@cinnabar/local-discord';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';

const ALWAYS = { times: Number.POSITIVE_INFINITY };
const MESSAGES = '/channels/:channelId/messages';
const CALLBACK = '/interactions/:interactionId/:token/callback';

/** A command that counts its runs. */
function counter(runs: string[]) {
  const run = (name: string) => async (ctx: { reply(text: string): Promise<unknown> }) => {
    runs.push(name);
    await ctx.reply(`${name} ran.`);
  };
  return definePlugin({
    manifest: { id: 'counter', version: '1.0.0', description: 'Counts', intents: ['GuildMessages', 'MessageContent'] },
    setup({ command }) {
      command({ name: 'open', description: 'For all to see', run: run('open') });
      command({ name: 'secret', description: 'For the caller alone', ephemeral: true, run: run('secret') });
    },
  });
}

/** Advances through an outage of that length, and the time that answers need. */
async function outage({ discord, clock, settled }: TestHost, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await discord.settled();
    clock.advance(1_000);
  }
  discord.faults.clear();
  let over = false;
  const end = settled().then(() => {
    over = true;
  });
  while (!over) {
    await discord.settled();
    clock.advance(1_000);
  }
  return end;
}

describe('commands while Discord fails', () => {
  const said = ({ general, bot }: TestHost) =>
    general.messages.filter(({ author }) => author.id === bot.id).map(({ content }) => content);
  const readable = (interaction: LocalInteraction) => interaction.messages.map(({ content }) => content);

  it('are answered once, as replies, when 60 s of 503 are over', async () => {
    const runs: string[] = [];
    await using host = await createTestHost({ plugins: [counter(runs)] });
    host.discord.faults.rest.fail(503, ALWAYS);
    const questions = [0, 1, 2].map(() => host.alice.say(host.general, '!open'));
    await outage(host, 60);
    expect(said(host)).to.deep.equal(['open ran.', 'open ran.', 'open ran.']);
    const answers = host.general.messages.filter(({ author }) => author.id === host.bot.id);
    expect(answers.map(({ replyTo }) => replyTo?.id)).to.have.members(questions.map(({ id }) => id));
    expect(runs).to.have.length(3);
  });

  it('are answered once when Discord accepted their answer and only its response got lost', async () => {
    const runs: string[] = [];
    await using host = await createTestHost({ plugins: [counter(runs)] });
    host.discord.faults.rest.fail(502, { method: 'POST', route: MESSAGES, ...ALWAYS, afterEffect: true });
    host.alice.say(host.general, '!open');
    await outage(host, 5);
    expect(said(host)).to.deep.equal(['open ran.']);
    for (const name of ['open', 'secret']) {
      host.discord.faults.rest.fail(502, { method: 'POST', route: CALLBACK, afterEffect: true });
      const used = host.alice.slash(host.general, name);
      await host.settled();
      expect(readable(used)).to.deep.equal([`${name} ran.`]);
    }
    expect(runs).to.have.length(3);
  });

  it('are answered as slash commands within their 15 minutes, once they were acknowledged', async () => {
    const slow = definePlugin({
      manifest: { id: 'slow', version: '1.0.0', description: 'Slow' },
      setup: ({ command }) =>
        void command({
          name: 'slow',
          description: 'Slow',
          async run(ctx) {
            await ctx.defer();
            host.discord.faults.rest.fail(503, ALWAYS);
            await ctx.reply('Done at last.');
          },
        }),
    });
    await using host = await createTestHost({ plugins: [slow] });
    const used = host.alice.slash(host.general, 'slow');
    await outage(host, 60);
    expect(readable(used)).to.deep.equal(['Done at last.']);
  });

  it('fill in the deferral of a process that died after it, for all or for the caller alone', async () => {
    const goOn: (() => void)[] = [];
    const late = definePlugin({
      manifest: { id: 'late', version: '1.0.0', description: 'Late' },
      setup: ({ command }) =>
        void command({
          name: 'late',
          description: 'Answers after somebody else has deferred it',
          async run(ctx) {
            await new Promise<void>((resolve) => goOn.push(resolve));
            await ctx.reply('Counted.');
          },
        }),
    });
    await using host = await createTestHost({ plugins: [late] });
    const { discord, alice, general } = host;
    for (const flags of [0, 64]) {
      const used = alice.slash(general, 'late');
      await discord.settled();
      await fetch(`${discord.api}/v10/interactions/${used.id}/${used.token}/callback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ type: 5, data: { flags } }),
      });
      goOn.pop()?.();
      await host.settled();
      const left = used.messages.filter(({ deleted }) => !deleted).map(({ content }) => content);
      expect(left, `flags ${flags}`).to.deep.equal(['Counted.']);
    }
  });

  it('send each answer once as slash commands, however often only Discord’s response got lost', async () => {
    const twice = definePlugin({
      manifest: { id: 'twice', version: '1.0.0', description: 'Twice' },
      setup: ({ command }) =>
        void command({
          name: 'twice',
          description: 'Says two things, one of them twice',
          async run(ctx) {
            for (const text of ['One.', 'Two.', 'Two.']) await ctx.reply(text);
          },
        }),
    });
    await using host = await createTestHost({ plugins: [twice] });
    host.discord.faults.rest.fail(502, {
      method: 'POST',
      route: '/webhooks/:webhookId/:token',
      times: 5,
      afterEffect: true,
    });
    const used = host.alice.slash(host.general, 'twice');
    await outage(host, 40);
    expect(readable(used)).to.deep.equal(['One.', 'Two.', 'Two.']);
  });

  it('are answered in the channel when Discord could not be told in time that they were heard', async () => {
    const runs: string[] = [];
    await using host = await createTestHost({ plugins: [counter(runs)] });
    host.discord.faults.rest.fail(503, ALWAYS);
    host.alice.slash(host.general, 'open');
    await outage(host, 60);
    expect(said(host)).to.deep.equal([`<@${host.alice.id}> \`/open\`:`, 'open ran.']);
    expect(runs).to.deep.equal(['open']);
  });

  it('are answered privately, then, when the answer is for the caller alone', async () => {
    const runs: string[] = [];
    await using host = await createTestHost({ plugins: [counter(runs)] });
    host.discord.faults.rest.fail(503, ALWAYS);
    host.alice.slash(host.general, 'secret');
    await outage(host, 60);
    expect(said(host)).to.deep.equal([]);
    const dm = host.alice.openDm(host.application);
    expect(dm.messages.map(({ content }) => content)).to.deep.equal([
      `<@${host.alice.id}> \`/secret\`:`,
      'secret ran.',
    ]);
    host.alice.dmsClosed = true;
    host.discord.faults.rest.fail(503, ALWAYS);
    host.alice.slash(host.general, 'secret');
    await outage(host, 60);
    expect(said(host)).to.deep.equal([
      `<@${host.alice.id}> \`/secret\`:`,
      'Discord did not accept my answer in time. It was for you only, so I do not post it here.',
    ]);
  });
});
