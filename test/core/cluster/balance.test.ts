import { endDue, type GroupLease, type Member, planFor } from '@cinnabar/core/internal/cluster/balance';
import { expect } from 'chai';
import fc from 'fast-check';

const UNASKED = { startedAt: 0, endsWhenAsked: true, endAsked: undefined } as const;

/** A cluster whose members execute their plans one after another, in an order that the test chooses. */
function simulate(groups: number) {
  let leases: GroupLease[] = Array.from({ length: groups }, (_, group) => ({
    group,
    token: 0n,
    holder: undefined,
    isFree: true,
    endsInMs: 0,
    isReady: false,
    wantedBy: undefined,
  }));
  let members: Member[] = [];
  let moves = 0;
  const change = (group: number, to: Partial<GroupLease>) => {
    leases = leases.map((lease) => (lease.group === group ? { ...lease, ...to } : lease));
  };
  const setMember = (id: string, to: Partial<Member>) => {
    members = members.map((member) => (member.id === id ? { ...member, ...to } : member));
  };
  return {
    get leases() {
      return leases;
    },
    get moves() {
      return moves;
    },
    held: (id: string) => leases.filter(({ holder }) => holder === id).length,
    able: () => members.filter(({ isAlive, isDraining, isConnected }) => isAlive && !isDraining && isConnected),
    join(id: string) {
      members = [
        ...members.filter((member) => member.id !== id),
        { id, name: id, version: '1', isAlive: true, isDraining: false, isConnected: true, ...UNASKED },
      ];
    },
    die(id: string) {
      setMember(id, { isAlive: false });
      leases = leases.map((lease) => (lease.holder === id ? { ...lease, isFree: true } : lease));
    },
    drain: (id: string) => setMember(id, { isDraining: true }),
    cutOff: (id: string) => setMember(id, { isConnected: false }),
    reconnect: (id: string) => setMember(id, { isConnected: true }),
    /** Executes one member's plan once. */
    step(id: string) {
      if (!members.some((member) => member.id === id && member.isAlive)) return;
      const { take, want, handOver } = planFor(id, { members, leases });
      for (const group of handOver) change(group, { holder: undefined, isFree: true, isReady: false });
      for (const group of want) change(group, { wantedBy: id });
      for (const group of take) {
        change(group, { holder: id, isFree: false, isReady: true, wantedBy: undefined });
        moves += 1;
      }
    },
  };
}

const ids = ['a', 'b', 'c', 'd', 'e'];
const member = fc.constantFrom(...ids);
const event = fc.oneof(
  fc.record({ what: fc.constantFrom('join', 'die', 'drain', 'cutOff', 'reconnect'), id: member }),
  fc.record({ what: fc.constant('step'), id: member }),
);

function allStep(cluster: ReturnType<typeof simulate>, rounds: number): void {
  for (let round = 0; round < rounds; round += 1) for (const id of ids) cluster.step(id);
}

describe('cluster: who serves which groups', () => {
  it('reaches an even distribution of all groups from any state, and then moves no group', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 24 }), fc.array(event, { maxLength: 80 }), (groups, events) => {
        const cluster = simulate(groups);
        cluster.join('a');
        for (const { what, id } of events) cluster[what](id);
        cluster.join('a');
        // Each group moves in two steps: a request, and the handover.
        allStep(cluster, 2 * groups + 6);

        const able = cluster.able();
        const shares = able.map(({ id }) => cluster.held(id));
        expect(shares.reduce((sum, share) => sum + share, 0)).to.equal(groups);
        expect(Math.max(...shares) - Math.min(...shares)).to.be.at.most(1);
        const before = cluster.moves;
        allStep(cluster, 5);
        expect(cluster.moves).to.equal(before);
      }),
      { numRuns: 1_000 },
    );
  });

  it('moves no more than it has to when a member joins', () => {
    const cluster = simulate(16);
    cluster.join('a');
    cluster.join('b');
    allStep(cluster, 20);
    expect([cluster.held('a'), cluster.held('b')]).to.eql([8, 8]);
    const before = cluster.moves;
    cluster.join('c');
    allStep(cluster, 20);
    expect([cluster.held('a'), cluster.held('b'), cluster.held('c')].sort()).to.eql([5, 5, 6]);
    expect(cluster.moves - before).to.be.at.most(6);
  });

  it('requests few groups at a time, and moves none while no member reaches Discord', () => {
    const cluster = simulate(16);
    cluster.join('a');
    allStep(cluster, 20);
    cluster.join('b');
    cluster.step('b');
    expect(cluster.leases.filter(({ wantedBy }) => wantedBy === 'b').length).to.be.within(1, 2);
    allStep(cluster, 20);
    cluster.cutOff('a');
    cluster.cutOff('b');
    const before = cluster.moves;
    allStep(cluster, 5);
    expect(cluster.moves).to.equal(before);
    cluster.reconnect('b');
    allStep(cluster, 20);
    expect(cluster.held('b')).to.equal(16);
  });

  it('does not move groups that have just moved or are starting', () => {
    const members = ['a', 'b'].map((id) => ({
      id,
      name: id,
      version: '1',
      isAlive: true,
      isDraining: false,
      isConnected: true,
      ...UNASKED,
    }));
    // In the order of the database: the oldest lease comes first.
    const leases = [4, 2, 3, 1].map((group, index) => ({
      group,
      token: 1n,
      holder: 'a',
      isFree: false,
      endsInMs: 5_000,
      isReady: index > 0,
      wantedBy: undefined,
    }));
    expect(planFor('b', { members, leases }).want).to.eql([2]);
  });

  it('hands over a quarter of its groups at a time, and all at once when no member remains to take them', () => {
    const member = (id: string, isDraining: boolean) => ({
      id,
      name: id,
      version: '1',
      isAlive: true,
      isDraining,
      isConnected: true,
      ...UNASKED,
    });
    const held = (n: number, wantedBy: readonly string[]) =>
      Array.from({ length: n }, (_, group) => ({
        group,
        token: 1n,
        holder: 'a',
        isFree: false,
        endsInMs: 5_000,
        isReady: true,
        wantedBy: wantedBy[group],
      }));
    const members = [member('a', true), member('b', false), member('c', false)];
    const wanted = ['b', 'c', 'b', 'c'];
    expect(planFor('a', { members, leases: held(4, wanted) }).handOver).to.eql([0]);
    expect(planFor('a', { members, leases: held(4, wanted) }, 1).handOver).to.eql([]);
    expect(planFor('a', { members, leases: held(12, wanted) }, 1).handOver).to.eql([0, 1]);
    const alone = [member('a', true)];
    expect(planFor('a', { members: alone, leases: held(4, []) }, 1).handOver).to.eql([0, 1, 2, 3]);
  });

  it('restarts one member after another when all groups are served and the one before is back, and shuts all down at once', () => {
    const member = (id: string, endAsked: Member['endAsked'], isAlive = true) => ({
      id,
      name: id,
      version: '1',
      isAlive,
      isDraining: false,
      isConnected: true,
      startedAt: 0,
      endsWhenAsked: true,
      endAsked,
    });
    const lease = {
      group: 0,
      token: 1n,
      holder: 'c',
      isFree: false,
      endsInMs: 5_000,
      isReady: true,
      wantedBy: undefined,
    };
    const due = (members: readonly Member[], leases: readonly GroupLease[] = [lease]) =>
      members.map(({ id }) => endDue(id, { members, leases }, 3));
    const all = ['a', 'b', 'c'].map((id) => member(id, 'restart'));
    expect(due(all)).to.eql(['restart', undefined, undefined]);
    const [, ...others] = all;
    expect(due(others), 'the first is not back').to.eql([undefined, undefined]);
    const back = [...others, member('d', undefined)];
    expect(due(back)).to.eql(['restart', undefined, undefined]);
    expect(due(back, [{ ...lease, isReady: false }]), 'a group is not served').to.eql([
      undefined,
      undefined,
      undefined,
    ]);
    expect(due([member('a', 'restart', false), ...back]), 'one that died').to.eql([
      undefined,
      'restart',
      undefined,
      undefined,
    ]);
    expect(
      due(
        ['a', 'b'].map((id) => member(id, 'shutdown')),
        [],
      ),
    ).to.eql(['shutdown', 'shutdown']);
  });
});
