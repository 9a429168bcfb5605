import { spawnSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { REST_EXCHANGES, type RestExchange } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { ActionRowBuilder, ButtonBuilder, ButtonStyle, EmbedBuilder, StringSelectMenuBuilder } from 'discord.js';
import { createExchangeCheck } from '../../support/discord-openapi/exchange-check.js';
import { nightCity } from './support.js';

const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
const inSupport = (name: string) => fileURLToPath(new URL(`../../support/discord-openapi/${name}`, import.meta.url));

function isExchange(value: unknown): value is RestExchange {
  return typeof value === 'object' && value !== null && 'route' in value;
}

/** The violations that the check finds in exchanges. */
function complaint(...exchanges: object[]): string {
  const { collect, violations } = createExchangeCheck();
  for (const exchange of exchanges) collect(exchange);
  return violations().join('\n') || 'none';
}

describe("Discord's description of its API", () => {
  const exchanges: RestExchange[] = [];
  const remember = (message: unknown) => {
    if (isExchange(message)) exchanges.push(message);
  };
  let created: RestExchange;

  before(async () => {
    subscribe(REST_EXCHANGES, remember);
    const { general, login, close } = await nightCity();
    const client = await login();
    const channel = await client.channels.fetch(general.id);
    if (!channel?.isSendable()) throw new Error('#general takes no messages');
    const stop = new ButtonBuilder({ label: 'Stop', style: ButtonStyle.Danger, customId: 'stop' });
    const menu = new StringSelectMenuBuilder({ customId: 'colour', options: [{ label: 'red', value: 'red' }] });
    const first = await channel.send({
      embeds: [new EmbedBuilder({ title: 'Dice', fields: [{ name: 'Sides', value: '20' }] })],
      components: [
        new ActionRowBuilder<ButtonBuilder>({ components: [stop] }),
        new ActionRowBuilder<StringSelectMenuBuilder>({ components: [menu] }),
      ],
    });
    const second = await first.reply('a reply');
    await second.reply('a reply to it');
    await second.startThread({ name: 'thread' });
    await channel.send('x'.repeat(2_001)).catch(() => undefined);
    await close();
    unsubscribe(REST_EXCHANGES, remember);
    const found = exchanges.find(({ method, route }) => method === 'POST' && route === '/channels/:channelId/messages');
    if (!found) throw new Error('no message was created');
    created = found;
  });

  it('admits what the local Discord answers: embeds, components, replies, a thread, a refusal', () => {
    expect(exchanges.map(({ response }) => response?.status)).to.include.members([200, 201, 400]);
    expect(complaint(...exchanges)).to.equal('none');
  });

  it('reports a response that lacks a field', () => {
    const { response } = created;
    const body = { ...Object(response?.body), author: undefined };
    expect(complaint({ ...created, response: { ...response, body } })).to.contain(
      "POST /channels/:channelId/messages, response 200: / must have required property 'author'",
    );
  });

  it('reports a wrong status, a missing body, an unknown route, a malformed request', () => {
    const said = (changes: Partial<RestExchange>) => complaint({ ...created, ...changes });
    expect(said({ response: { status: 204 } })).to.contain('response 204: the status is not described');
    expect(said({ response: { status: 200 } })).to.contain('response 200: has no body');
    expect(said({ route: '/channels/:channelId/telepathy' })).to.contain('request: no such operation');
    expect(said({ query: ['loud'] })).to.contain('request: unknown query parameter loud');
    expect(said({ requestBody: { flags: 'loud' } })).to.contain('request: /flags must be integer,null');
  });

  it('fails the file in which it happens', () => {
    const args = [MOCHA, '--no-config', '--require', inSupport('hooks.js'), inSupport('not-admitted.js')];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status, stdout).to.equal(1);
    expect(stdout).to.contain("Discord's description does not admit:").and.to.contain('GET /users/@me, response 200');
  });
});
