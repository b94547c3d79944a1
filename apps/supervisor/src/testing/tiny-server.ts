// A child for the supervisor's tests: answers with its pid on the port it is given. "stubborn" makes it ignore SIGTERM;
// asked for /asked it says how often it has told its pid, for /wait it waits for what never comes, for /work?ms=N it works so
// long, and does nothing else meanwhile.
import { createServer } from 'node:http';

const [port, manner] = process.argv.slice(2);
if (manner === 'stubborn') process.on('SIGTERM', () => undefined);
let told = 0;
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (pathname === '/work') {
    const until = performance.now() + Number(searchParams.get('ms'));
    while (performance.now() < until) Math.random();
  }
  if (pathname === '/asked') return void response.end(String(told));
  if (pathname === '/') told += 1;
  response.end(String(process.pid));
}).listen(Number(port), '127.0.0.1');
