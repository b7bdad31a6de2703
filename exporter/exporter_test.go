package exporter
