import { connect } from 'node:net';
import { logSocket } from '@sallyport/deployment/places';

/** A refusal as a guard reports it; a CRS rule decided, as in a real one, after another one found something. */
export const guardBlock = (fields: object = {}) => ({
  type: 'block',
  reference: '0f9c2f7e-0000-4000-8000-000000000001',
  timestamp: '2026-11-20T12:00:00.000Z',
  layer: 'waf',
  monitored: false,
  status: 403,
  reason: 'anomaly score 5 of 5',
  ip: '203.0.113.7',
  host: 'app.example.com',
  host_id: 0,
  method: 'GET',
  request_uri: '/search?q=%27%20or%201=1',
  user_agent: 'curl/8',
  rule_id: 949110,
  matches: [
    {
      rule_id: 942100,
      message: 'SQL Injection Attack Detected via libinjection',
      variable: 'ARGS:q',
      value: "' or 1=1",
      severity: 2,
    },
    {
      rule_id: 949110,
      message: 'Inbound Anomaly Score Exceeded',
      variable: 'TX:anomaly_score',
      value: '5',
      severity: 2,
    },
  ],
  ...fields,
});

/** Sends lines to the log socket of a running service as its guards do; objects become JSON. */
export const sendLines = (dataDir: string, lines: readonly (object | string)[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(logSocket(dataDir));
    socket.once('error', reject);
    socket.once('close', () => resolve());
    socket.end(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  });
