import { startLocalDiscord } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { judge, nothingKnown } from './cluster/judge.js';
import type { Asked, Kind } from './cluster/traffic.js';

describe('the judge of the cluster campaign', () => {
  /** The text of a request, and the texts and times of its answers. */
  type Said = readonly [
    kind: Kind,
    at: number,
    answers: readonly (readonly [text: string, at: number])[],
    word?: string,
  ];

  const found = async (
    said: readonly Said[],
    stored: number,
    { isHandOver = false, known = nothingKnown() } = {},
  ): Promise<readonly string[]> => {
    await using discord = await startLocalDiscord();
    const channel = discord
      .createGuild({ name: 'Server', owner: discord.createUser({ name: 'owner' }) })
      .createChannel({
        name: 'general',
      });
    const asked = said.map(
      ([kind, at, answers, word], index): Asked => ({
        kind,
        id: `${index}`,
        channel,
        at,
        word,
        interaction: undefined,
        answers: answers.map(([text, answeredAt]) => ({ text, at: answeredAt })),
      }),
    );
    return judge(asked, known, new Map([[channel.guild?.id ?? '', stored]]), isHandOver);
  };
  const changed = '`word` of `tally` is `w1` for this server now.';

  it('finds no violation when each command was answered once', async () => {
    const said: readonly Said[] = [
      ['tally', 1, [['tally 1', 2]]],
      ['repeat', 2, [['I was interrupted', 3]]],
      ['mark', 3, []],
      ['set', 4, [[changed, 5]], 'w1'],
      ['word', 6, [['word w1', 7]]],
    ];
    expect(await found(said, 1)).to.deep.equal([]);
  });

  it('finds commands without an answer, with two answers, and with a wrong answer', async () => {
    expect((await found([['repeat', 1, []]], 0)).join()).to.include('never answered');
    const twice: Said = [
      'tally',
      1,
      [
        ['tally 1', 2],
        ['I was interrupted', 3],
      ],
    ];
    expect((await found([twice], 1)).join()).to.include('answered 2 times');
    expect((await found([['repeat', 1, [['tally 1', 2]]]], 0)).join()).to.include('was answered with');
  });

  it('finds a write that was confirmed and lost, or made twice', async () => {
    expect((await found([['tally', 1, [['tally 1', 2]]]], 0)).join()).to.include('0 is stored');
    expect((await found([['tally', 1, [['tally 2', 2]]]], 2)).join()).to.include('counted 2 times for 1 commands');
    const same: readonly Said[] = [1, 2].map((at) => ['tally', at, [['tally 1', at]]] as const);
    expect((await found(same, 2)).join()).to.include('told twice');
  });

  it('finds a changed setting that was lost', async () => {
    const change: Said = ['set', 1, [[changed, 2]], 'w1'];
    const said = await found([change, ['word', 3, [['word none', 4]]]], 0);
    expect(said.join()).to.include('"none" was told, not w1');
    const unsure: Said = ['set', 1, [['I was interrupted', 2]], 'w1'];
    expect(await found([unsure, ['word', 3, [['word none', 4]]]], 0)).to.deep.equal([]);
  });

  it('finds an effect that was there twice, and one that a hand-over has lost', async () => {
    expect(
      (
        await found(
          [
            [
              'mark',
              1,
              [
                ['marked', 2],
                ['marked', 3],
              ],
            ],
          ],
          0,
        )
      ).join(),
    ).to.include('2 times');
    expect((await found([['mark', 1, []]], 0, { isHandOver: true })).join()).to.include('not heard');
  });
});
