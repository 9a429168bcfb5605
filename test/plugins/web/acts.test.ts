import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, webAct, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { declaredPages } from '../../support/declared-texts.js';
import { openBrowser } from './browser.js';

/** Labels of acts that delete something. */
const DESTROYING =
  /^(?:clear|delete|disable|drop|forget|lift|only|remove|reset|revoke|stop|undo|ungrant|unload)(?:-|$)/;

describe('web: acts of the bundled pages', () => {
  it('that destroy something are declared as such, each with a question that names it', async () => {
    const pages = await declaredPages();
    const acts = pages.flatMap(({ plugin, page }) =>
      Object.entries(page.acts ?? {}).map(([name, act]) => ({
        name: `${plugin}/${page.name} ${name}`,
        word: name,
        act,
      })),
    );
    const destroying = acts.filter(({ act }) => act.effect === 'destroys');
    expect(destroying.length).to.be.greaterThan(15);
    for (const { name, act } of destroying) {
      if (act.effect !== 'destroys') continue;
      expect(act.question({}), name).to.match(/^\p{Lu}.*\?/u);
    }
    expect(
      acts.filter(({ word, act }) => DESTROYING.test(word) !== (act.effect === 'destroys')).map(({ name }) => name),
    ).to.deep.equal(['admin/file apply']);
  });
});

describe('web: an act that destroys something', () => {
  const shed = definePlugin({
    manifest: { id: 'shed', version: '1.0.0', description: 'Keeps tools' },
    setup({ page }) {
      const burn = { act: 'burn', input: { tool: 'rake' } };
      page({
        name: 'tools',
        title: 'Tools',
        about: 'guild',
        group: 'server',
        access: { tier: 'everyone' },
        view: () => ({
          blocks: [
            {
              kind: 'section',
              title: 'All',
              blocks: [
                { kind: 'buttons', buttons: [{ ...burn, label: 'Burn' }] },
                { kind: 'buttons', buttons: [{ ...burn, label: 'Burn', question: 'Burn the last rake?' }] },
                {
                  kind: 'table',
                  columns: [{ name: 'Tool' }],
                  rows: [{ id: 'rake', cells: ['rake'], buttons: [{ ...burn, label: 'Burn' }] }],
                  empty: '',
                },
                {
                  kind: 'steps',
                  steps: [
                    {
                      id: '1',
                      title: 'Bought',
                      tone: 'plain',
                      blocks: [
                        {
                          kind: 'form',
                          act: 'burn',
                          fields: [],
                          submit: 'Burn',
                          buttons: [{ act: 'oil', label: 'Oil' }],
                        },
                      ],
                    },
                  ],
                  empty: '',
                },
              ],
            },
          ],
        }),
        card: () => [{ kind: 'buttons', buttons: [{ ...burn, label: 'Burn' }] }],
        acts: {
          burn: webAct({
            input: z.object({ tool: z.string() }),
            effect: 'destroys',
            question: ({ tool = 'it' }) => `Burn ${tool}?`,
            run: () => ({
              said: 'Burnt.',
              blocks: [{ kind: 'buttons', buttons: [{ act: 'burn', label: 'Another' }] }],
            }),
          }),
          oil: webAct({ input: z.object({}), effect: 'changes', run: () => 'Oiled.' }),
        },
      });
    },
  });

  const questionsIn = (body: unknown) =>
    [...JSON.stringify(body).matchAll(/"question":"([^"]*)"/g)].map(([, question]) => question);

  it('asks at each of its buttons and forms, wherever they stand, and its own words come first', async () => {
    await using host = await createTestHost({ plugins: ['web', shed], env: { CINNABAR_WEB: '0' }, printErrors: false });
    const browser = openBrowser(host);
    await browser.signIn(host.you.id);
    const path = '/api/pages/shed/tools';
    const query = `?guild=${host.guild.id}`;
    const questions = questionsIn((await browser.get(`${path}${query}`)).body);
    expect(questions.sort()).to.deep.equal(['Burn it?', 'Burn rake?', 'Burn rake?', 'Burn the last rake?']);
    expect(questionsIn((await browser.get(`${path}/card${query}`)).body)).to.deep.equal(['Burn rake?']);
    const { body } = await browser.act(`${path}/acts/burn${query}`, { tool: 'rake' });
    expect(questionsIn(body)).to.deep.equal(['Burn it?']);
  });
});
