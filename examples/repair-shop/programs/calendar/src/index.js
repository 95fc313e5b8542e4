import { gapsOf } from './gaps.js'
import { merge } from './merge.js'
import { meetingOf, timeOf } from './parse.js'

export function busy(meetings) {
  return merge(meetings.map(meetingOf)).reduce((sum, { from, to }) => sum + to - from, 0)
}

export function free(meetings, day, least) {
  const gaps = gapsOf(merge(meetings.map(meetingOf)), meetingOf(day), least)
  return gaps.map(({ from, to }) => `${timeOf(from)}-${timeOf(to)}`)
}

export function fits(meetings, meeting) {
  const { from, to } = meetingOf(meeting)
  return meetings.map(meetingOf).every((other) => other.to <= from || other.from >= to)
}
