import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage } from '@cinnabar/local-discord';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { SettingsCatalog, z } from '@cinnabar/sdk';
import { expect } from 'chai';

const requestSchema = z.object({
  messages: z.array(z.object({ participant: z.string(), content: z.array(z.object({ text: z.string().optional() })) })),
});
const BEARER = 'cinnabar_mcp_abcdefghijklmnopqrstuvwxyz';

describe('ai: `ai prompt`', () => {
  let host: TestHost;
  const llm = scriptedLlm(() => say('Fine.'));
  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm] });
  });
  after(() => host[Symbol.asyncDispose]());

  const promptIn = (message: LocalMessage | undefined) => {
    const [file] = message?.attachments ?? [];
    expect(file?.filename).to.equal('prompt.json');
    return Buffer.from(file?.data ?? []).toString();
  };
  const messagesIn = (text: string) => requestSchema.parse(JSON.parse(text)).messages;
  const ephemeral = async (user: TestHost['alice']) => {
    const interaction = user.slash(host.general, 'ai-prompt');
    await host.settled();
    return interaction.response;
  };

  it('sends the exact next prompt, without secrets, to the owner alone', async () => {
    host.bob.say(host.general, 'It rains.');
    host.bob.say(host.general, `My bearer is ${BEARER}.`);
    await host.settled();
    const shown = promptIn(await ephemeral(host.you));
    expect(llm.requests, 'nothing is asked of the model').to.have.length(0);
    expect(shown).to.include('It rains.').and.not.include(BEARER);

    host.you.say(host.general, '!m');
    await host.settled();
    const real = requestSchema.parse(JSON.parse(JSON.stringify(llm.requests.at(-1))));
    expect(messagesIn(shown)).to.deep.equal(JSON.parse(JSON.stringify(real.messages).replaceAll(BEARER, '[redacted]')));
  });

  it('goes to the owner by direct message where it was typed for all to see', async () => {
    host.you.say(host.general, '!ai prompt');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.match(/^I have sent it to you in a direct message\./);
    expect(host.general.messages.flatMap(({ attachments }) => attachments)).to.deep.equal([]);
    const dm = host.you.openDm(host.application);
    expect(promptIn(dm.messages.at(-1))).to.include('It rains.');
  });

  it('is for admins only where the owner allows it, and never for members', async () => {
    const admin = host.discord.createUser({ name: 'admin' });
    const role = host.guild.createRole({ name: 'Admins', permissions: ['Administrator'] });
    host.guild.join(admin, { roles: [role] });
    const refusals: (string | undefined)[] = [];
    const ask = async (user: TestHost['alice']) => {
      const response = await ephemeral(user);
      refusals.push(response?.attachments.length === 1 ? 'shown' : response?.content);
    };
    await ask(admin);
    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    await host.resolve(SettingsCatalog).set('ai', 'adminsSeePrompts', 'true', actor);
    await ask(admin);
    expect(refusals[0]).to.match(/^You may not do that/);
    expect(refusals[1]).to.equal('shown');
    host.alice.say(host.general, '!ai prompt');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.match(/^You may not do that/);
  });
});
