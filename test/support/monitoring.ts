import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import parse from 'parse-prometheus-text-format';

const familiesSchema = z.array(
  z.object({
    name: z.string(),
    help: z.string(),
    type: z.string(),
    metrics: z.array(z.object({ value: z.string().optional(), labels: z.record(z.string(), z.string()).optional() })),
  }),
);

/** The metrics of `/metrics`, parsed by a third-party parser. */
interface PublishedMetrics {
  readonly names: readonly string[];
  /** The value for exactly these labels; `undefined` when there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** All combinations of labels of a metric. */
  labels(name: string): readonly Readonly<Record<string, string>>[];
  readonly text: string;
}

/** @param url value of `host.monitoringUrl` */
export async function readMetrics(url: string | undefined): Promise<PublishedMetrics> {
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  expect(response.status, text).to.equal(200);
  expect(response.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
  const families = familiesSchema.parse(parse(text));
  const samples = (name: string) => families.find((family) => family.name === name)?.metrics ?? [];
  const key = (labels: Readonly<Record<string, string>> = {}) => JSON.stringify(Object.entries(labels).sort());
  return {
    names: families.map(({ name }) => name),
    value(name, labels) {
      const value = samples(name).find((sample) => key(sample.labels) === key(labels))?.value;
      return value === undefined ? undefined : Number(value);
    },
    labels: (name) => samples(name).map(({ labels }) => labels ?? {}),
    text,
  };
}

/** The response of `/readyz`, as a monitoring system reads it. */
export async function readReadiness(url: string | undefined): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.json() };
}
